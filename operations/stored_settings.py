"""Settings that the engine declares."""

from typing import Any

from operations.contracts import LANES
from operations.settings_store import NEXT_RUN, WORKER_RESTART, Setting, check_integer, check_number, declare

PROVIDERS = ("builtin",)


def check_providers(value: Any) -> dict[str, str]:
    """``{lane: provider}``; a lane that is absent uses the built-in engine."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not a mapping of lanes to providers")
    for lane, provider in value.items():
        if lane not in LANES:
            raise ValueError(f"there is no lane {lane!r}")
        if provider not in PROVIDERS:
            raise ValueError(f"{provider!r} is not a provider for {lane}")
    return dict(value)


declare(
    Setting(
        "daily_budget_usd",
        25.0,
        check_number(0),
        "0 (unlimited) or more",
        label="Most that models may cost in a UTC day",
    ),
    Setting("worker_activity_slots", 4, check_integer(1, 64), "1 to 64", WORKER_RESTART, "Work done at the same time"),
    Setting(
        "provider",
        {},
        check_providers,
        f"lanes {', '.join(LANES)}; providers {', '.join(PROVIDERS)}",
        NEXT_RUN,
        "Engine of each lane",
    ),
)
