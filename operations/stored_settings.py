"""Settings that the engine declares."""

from operations.contracts import LANES
from operations.settings_store import (
    NEXT_RUN,
    WORKER_RESTART,
    ChoicePerLane,
    Setting,
    check_integer,
    check_number,
    declare,
)

PROVIDERS = ("builtin",)

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
        ChoicePerLane(LANES, PROVIDERS, "provider"),
        f"lanes {', '.join(LANES)}; providers {', '.join(PROVIDERS)}",
        NEXT_RUN,
        "Engine of each lane",
        group="Engines",
        help="What does the thinking in each kind of work.",
    ),
)
