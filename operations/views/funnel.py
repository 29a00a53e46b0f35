"""How far jobs are, all of them or those of one run, as five bars."""

from collections.abc import Mapping
from typing import Any

from operations.wording import STAGE_NAMES, STRIP_STAGES


def build_funnel(counters: Mapping[str, Mapping[str, int]], found: int) -> list[dict[str, Any]]:
    """How many jobs have come through each step, what runs there and what failed."""
    rows = []
    for stage in STRIP_STAGES:
        states = counters.get(stage, {})
        failed = states.get("failed", 0) + states.get("exhausted", 0)
        parts = [
            f"{states['running']:,} running" if states.get("running") else "",
            f"{failed:,} failed" if failed else "",
            f"{states['skipped']:,} left out by your rule" if states.get("skipped") else "",
        ]
        rows.append(
            {
                "label": STAGE_NAMES[stage].done,
                "done": states.get("succeeded", 0),
                "running": states.get("running", 0),
                "failed": failed,
                "total": found,
                "says": ", ".join(part for part in parts if part),
            }
        )
    return rows
