"""How far jobs are, all of them or those of one run, as five bars."""

from collections.abc import Mapping
from typing import Any

from operations import queries
from operations.contracts import ExecutionRef
from operations.wording import STAGE_NAMES, STRIP_STAGES

Counters = Mapping[str, Mapping[str, int]]


def count_lost(counters: Counters, ref: ExecutionRef | None = None) -> dict[str, int]:
    """How many of what counts as running a dead run still holds, by stage; asks only where something runs."""
    is_held = any(states.get(state) for states in counters.values() for state in ("running", "queued"))
    return queries.count_lost_stages(ref) if is_held else {}


def build_funnel(counters: Counters, found: int, *, lost: Mapping[str, int]) -> list[dict[str, Any]]:
    """How many jobs have come through each step, what runs there, what failed and what cannot be known."""
    rows = []
    for stage in STRIP_STAGES:
        states = counters.get(stage, {})
        failed = states.get("failed", 0) + states.get("exhausted", 0)
        unknown = lost.get(stage, 0)
        running = max(states.get("running", 0) - unknown, 0)
        parts = [
            f"{running:,} running" if running else "",
            f"{unknown:,} unknown, {'their' if unknown > 1 else 'its'} run cannot be found" if unknown else "",
            f"{failed:,} failed" if failed else "",
            f"{states['skipped']:,} left out by your rule" if states.get("skipped") else "",
        ]
        rows.append(
            {
                "label": STAGE_NAMES[stage].done,
                "done": states.get("succeeded", 0),
                "running": running,
                "failed": failed,
                "total": found,
                "says": ", ".join(part for part in parts if part),
            }
        )
    return rows
