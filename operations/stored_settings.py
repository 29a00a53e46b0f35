"""Settings that the engine declares."""

from operations.contracts import LANES, MODEL_LANES
from operations.settings_store import (
    NEXT_RUN,
    WORKER_RESTART,
    ChoicePerLane,
    NumberPerLane,
    Setting,
    TextPerLane,
    check_boolean,
    check_choice,
    check_integer,
    check_number,
    declare,
)

PROVIDERS = ("builtin", "openai", "anthropic", "google")
SELF_HOSTED = "A model at an address of your own"

declare(
    Setting(
        "daily_budget_usd",
        25.0,
        check_number(0),
        "0 (unlimited) or more",
        label="Most that models may cost in a UTC day",
        group="Money",
        help="In US dollars. The built-in engine costs nothing and never counts.",
    ),
    Setting(
        "lane_token_limits",
        {},
        NumberPerLane(LANES),
        f"lanes {', '.join(LANES)}; tokens 0 (unlimited) or more",
        label="Most tokens a lane may use in a UTC day",
        group="Money",
        help="Tokens that go in and come out, added up. A lane without a number has no limit of its own.",
    ),
    Setting(
        "self_hosted_free",
        False,
        check_boolean,
        "true or false",
        label=f"{SELF_HOSTED} costs nothing",
        group="Money",
        help="Only for OPENAI_BASE_URL. Otherwise its tokens are priced like those of a paid model of its family.",
    ),
    Setting(
        "worker_activity_slots",
        4,
        check_integer(1, 64),
        "1 to 64",
        WORKER_RESTART,
        "Work done at the same time",
        group="Worker",
        help="Each piece of work in progress takes one slot.",
    ),
    Setting(
        "provider",
        {},
        ChoicePerLane(LANES, PROVIDERS, "provider", MODEL_LANES),
        f"lanes {', '.join(LANES)}; providers {', '.join(PROVIDERS)}, for {' and '.join(MODEL_LANES)}",
        NEXT_RUN,
        "Engine of each lane",
        group="Engines",
        help="What does the thinking in each kind of work.",
    ),
    Setting(
        "model",
        {},
        TextPerLane(LANES, 120),
        f"lanes {', '.join(LANES)}; the provider's own name of a model, at most 120 characters",
        NEXT_RUN,
        "Model of each lane",
        group="Engines",
        help="As the provider writes it, for each lane whose engine is not the built-in one.",
    ),
    Setting(
        "structured_output",
        "tool",
        check_choice("tool", "json"),
        "tool or json",
        NEXT_RUN,
        "How models give structured answers",
        group="Engines",
        help="As a call of a tool, or as JSON text for models that know no tools.",
    ),
    Setting(
        "model_streaming",
        False,
        check_boolean,
        "true or false",
        NEXT_RUN,
        "Models answer as a stream",
        group="Engines",
        help="Some self-hosted servers answer long questions in time only so.",
    ),
)
