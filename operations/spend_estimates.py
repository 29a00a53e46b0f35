"""What a start may cost, from what recent jobs did cost with the models that are chosen now.

Nothing is said where the lanes use the built-in engine, and no number where it could not be defended.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from operations.contracts import SPENDING_STAGES, StageName, StageState
from operations.llm.authority import list_spending
from operations.queries.spend import JobCost, list_job_costs
from operations.settings_store import get_setting
from operations.stage_engine.counters import read_counters
from operations.stage_engine.declaration import find_stage

FEWEST_JOBS: Final = 5
RECENT: Final = timedelta(days=30)
#: Between these shares of the recent jobs' costs a job is said to cost.
LOW_SHARE, HIGH_SHARE = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class Estimate:
    """``jobs`` ``None`` = not known before. The range of one job is ``None`` with fewer than five recent jobs."""

    stage: str
    lanes: list[str]
    jobs: int | None
    sample_size: int
    low_usd: Decimal | None = None
    high_usd: Decimal | None = None

    @property
    def all_low_usd(self) -> Decimal | None:
        return None if self.low_usd is None or self.jobs is None else self.low_usd * self.jobs

    @property
    def all_high_usd(self) -> Decimal | None:
        return None if self.high_usd is None or self.jobs is None else self.high_usd * self.jobs


def list_estimates(stages: Sequence[str], *, jobs: int | None, now: datetime) -> list[Estimate]:
    """For those of the stages that may use a model now; one read of recent calls where there is any."""
    chosen = {stage: lanes for stage in stages if (lanes := list_stage_lanes(stage))}
    if not chosen:
        return []
    recent, providers, models = list_job_costs(now - RECENT), get_setting("provider"), get_setting("model")
    found = []
    for stage, lanes in chosen.items():
        targets = {(lane, providers.get(lane), models.get(lane)) for lane in lanes}
        costs = list_known_costs(recent, targets)
        low, high = find_range(costs)
        found.append(Estimate(stage, lanes, jobs, len(costs), low, high))
    return found


def list_stage_lanes(stage: str) -> list[str]:
    """The lanes of a stage that a model was chosen for; () where it cannot spend."""
    known = find_stage(stage) if stage in SPENDING_STAGES else None
    return list_spending(known.lanes) if known else []


def list_known_costs(recent: Sequence[JobCost], targets: set[tuple[str, str | None, str | None]]) -> list[Decimal]:
    """What each job cost in these lanes with these models, the cheapest first. One with a call of unknown use is left
    out, since it cost more than is known; so is one that not every lane has worked on."""
    sums: dict[UUID, Decimal] = defaultdict(Decimal)
    lanes: dict[UUID, set[str]] = defaultdict(set)
    unknown: set[UUID] = set()
    for cost in recent:
        if (cost.lane, cost.provider, cost.model) not in targets:
            continue
        sums[cost.job_id] += cost.cost_usd
        lanes[cost.job_id].add(cost.lane)
        if cost.unknown:
            unknown.add(cost.job_id)
    whole = {job_id for job_id, seen in lanes.items() if len(seen) == len(targets)}
    return sorted(sums[job_id] for job_id in whole - unknown)


def find_range(costs: Sequence[Decimal]) -> tuple[Decimal | None, Decimal | None]:
    """Of sorted costs; ``(None, None)`` for too few."""
    if len(costs) < FEWEST_JOBS:
        return None, None
    last = len(costs) - 1
    return costs[int(last * LOW_SHARE)], costs[-1 - int(last * (1 - HIGH_SHARE))]


def count_waiting(stage: StageName) -> int:
    """How many jobs a start of a whole stage would find at most, by the counters."""
    states = read_counters().get(stage, {})
    return sum(states.get(state, 0) for state in (StageState.PENDING, StageState.FAILED))
