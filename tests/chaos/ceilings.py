"""Several worker processes that run into a lane's limit at once, then into the day's ceiling, then go on without them.

From the call on that reaches a limit, answers are held back until every worker waits for one. So all of them were
admitted when the first is counted, and what is recorded in the end is known exactly.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.asked_models import COST_USD, LANES, TOKENS, AskedModels
from tests.chaos.doubles import find_doubles
from tests.modelserver import Asked
from tests.scoring.model_answers import list_lanes, read_lane

JOBS_A_WORKER = 8
FIRST_JOBS = 4  # of them, in the first run of each worker
#: Which call reaches a limit: a worker that alone has made all of them has still something left to do.
REACHES_LANE_LIMIT = 3
REACHES_CEILING = 8
#: An activity that is tried again begins after five seconds.
QUIET_SECONDS = 8.0
GATE_SECONDS = 120.0
DENIED = ("failed", "budget_exceeded")


@dataclass(slots=True)
class Gate:
    """Holds the calls that ``counts`` names back from the ``first`` one on, until ``workers`` of them wait."""

    workers: int
    first: int
    counts: Callable[[Asked], bool]
    seen: int = 0
    held: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def wait(self, asked: Asked) -> None:
        with self._changed:
            if not self.counts(asked):
                return
            self.seen += 1
            if self.seen < self.first:
                return
            self.held += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.held >= self.workers, GATE_SECONDS)


@dataclass(slots=True)
class Ceilings:
    """What was asked and recorded before it ran is left out of every count."""

    work: AskedModels
    faults: list[str] = field(default_factory=list)
    _before: dict[str, int] = field(default_factory=dict)
    _open: int = 0

    @property
    def workers(self) -> int:
        return self.work.workers

    @property
    def jobs(self) -> int:
        """So many without a score it needs."""
        return self.workers * JOBS_A_WORKER

    def run(self) -> None:
        self._before, self._open = self.count_lanes(), self.work.count_attempts("state = 'open'")
        jobs = self.work.list_unscored()
        self.expect("jobs without a score", len(jobs), self.jobs)
        first, others = jobs[: self.workers * FIRST_JOBS], jobs[self.workers * FIRST_JOBS :]
        scored = self.cross_lane_limit(first)
        waiting = [job for job in self.work.list_unscored() if job in first]
        self.expect("jobs of the lane's runs that wait", len(waiting), len(first) - scored)
        self.cross_ceiling(waiting, others)
        self.go_on()

    # --- the limits ----------------------------------------------------------------------------

    def cross_lane_limit(self, jobs: Sequence[str]) -> int:
        """The score lane is full in the middle of every batch; the analysis lane goes on. Returns how many were scored."""
        limit = (self.work.count_attempts("state = 'counted' AND lane = 'score'") + REACHES_LANE_LIMIT) * TOKENS
        gate = Gate(self.workers, REACHES_LANE_LIMIT, lambda asked: read_lane(asked) == "score")
        selections = [jobs[number :: self.workers] for number in range(self.workers)]
        self.run_into(gate, selections, lane_token_limits={"score": limit})
        scored = REACHES_LANE_LIMIT + self.workers - 1
        self.expect("calls by lane", self.count_new(), {"analysis": len(jobs), "score": scored})
        self.expect("rows that wait for the budget", self.count_waiting(), len(jobs) - scored)
        self.expect("calls in the full lane after the first denial", self.count_late("score"), 0)
        return scored

    def cross_ceiling(self, waiting: Sequence[str], others: Sequence[str]) -> None:
        """The day's money is used up in the middle of every batch, with calls of both lanes out."""
        asked = self.count_lanes()
        calls = sum(asked.values())
        ceiling = round((calls - self._open + REACHES_CEILING) * COST_USD, 6)
        selections = [
            [*others[number :: self.workers], *waiting[number :: self.workers]] for number in range(self.workers)
        ]
        gate = Gate(self.workers, REACHES_CEILING, lambda _: True)
        ((since,),) = self.work.workspace.query("SELECT max(id) FROM job_events")
        self.run_into(gate, selections, lane_token_limits={}, daily_budget_usd=ceiling)
        now = self.count_lanes()
        self.expect("whether a row was put back for the budget", self.count_waiting() > 0, True)
        self.expect("calls up to the ceiling", sum(now.values()) - calls, REACHES_CEILING + self.workers - 1)
        self.expect("lanes that were asked", [lane for lane in LANES if now[lane] > asked[lane]], list(LANES))
        for lane in LANES:
            self.expect(f"calls of {lane} after the first denial", self.count_late(lane, since=since), 0)
        self.expect("a run over all the others", self.end_run(), {DENIED: 1})
        self.expect("calls that it made", sum(self.count_lanes().values()), sum(now.values()))

    def go_on(self) -> None:
        """Without limits everything is done, and nothing was paid for twice."""
        self.expect("a run without limits", self.end_run(daily_budget_usd=0), {("succeeded", ""): 1})
        self.expect("jobs without a score", self.work.list_unscored(), [])
        self.expect("calls by lane", self.count_new(), dict.fromkeys(LANES, self.jobs))

    def run_into(self, gate: Gate, selections: Sequence[Sequence[str]], **settings: Any) -> None:
        """Every run ends with the budget, every call is on record and counted, and nothing is tried again."""
        models, workspace = self.work.models, self.work.workspace
        models.before = gate.wait
        ends = self.work.wait_for_ends(self.work.start_runs(*selections, **settings))
        models.before = lambda _: None
        self.expect("ends of the runs", ends, {DENIED: len(selections)})
        self.expect("workers that were asking at the limit", min(gate.held, self.workers), self.workers)
        self.expect_recorded()
        waiting = workspace.query(
            "SELECT DISTINCT attempts, error_code FROM job_stage_states WHERE stage = 'score' AND state = 'pending'"
        )
        self.expect("rows in line, by attempts and error", waiting, [(0, "")])
        states = set(workspace.count_stages("score"))
        self.expect("states of the score stage", states, {"pending", "succeeded"})
        made = len(models.requests)
        time.sleep(QUIET_SECONDS)
        self.expect("calls after the runs had ended", len(models.requests) - made, 0)
        self.expect("activities that are to be tried again", workspace.count("workflow_pending_activities"), 0)

    # --- what is so ----------------------------------------------------------------------------

    def end_run(self, **settings: Any) -> dict[tuple[str, str], int]:
        """Of one over every eligible job."""
        return dict(self.work.wait_for_ends(self.work.start_runs(None, **settings)))

    def count_lanes(self) -> dict[str, int]:
        lanes = list_lanes(self.work.models)
        return {lane: lanes.count(lane) for lane in LANES}

    def count_new(self) -> dict[str, int]:
        return {lane: calls - self._before[lane] for lane, calls in self.count_lanes().items()}

    def count_waiting(self) -> int:
        return self.work.workspace.count(
            "job_stage_states", "stage = 'score' AND state = 'pending' AND attempts = 0 AND reason_code = 'budget'"
        )

    def count_late(self, lane: str, *, since: int = 0) -> int:
        """Calls that were admitted after a row had been put back for the budget, by an event later than ``since``."""
        return self.work.count_attempts(
            "lane = %s AND opened_at > (SELECT min(recorded_at) FROM job_events "
            "WHERE event_type = 'StageReset' AND CAST(payload AS text) LIKE %s AND id > %s)",
            lane,
            '%"budget"%',
            since,
        )

    def expect_recorded(self) -> None:
        made = len(self.work.models.requests)
        self.expect("attempts on record", self.work.count_attempts(), made)
        self.expect("attempts that were counted", self.work.count_attempts("state = 'counted'"), made - self._open)

    def expect(self, what: str, found: object, wanted: object) -> None:
        if found != wanted:
            self.faults.append(f"{what}: {found} instead of {wanted}")

    def list_faults(self) -> list[str]:
        done = self.work.workspace.manage("verify_projections")
        return [
            *self.faults,
            *self.work.find_uneven_books(),
            *find_doubles(self.work.workspace),
            *([f"the projections differ from the log: {done.stdout}"] if done.returncode else []),
        ]

    def describe(self) -> str:
        return f"{self.workers} workers, {self.count_new()} calls, {self.work.count_attempts()} attempts"
