"""SIGKILL to a worker between a provider's answer and the commit of what it used, over and over.

The worker is stopped while its answer is written, so that it has all of it before the clock starts: then it goes on for
a random few milliseconds, the first one excepted. How many follows the machine, so that about half of the kills come
before the commit. Each run is struck once, in one of its two calls.
"""

import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from tests.chaos.asked_models import LANES, AskedModels
from tests.chaos.doubles import find_doubles
from tests.modelserver import Asked
from tests.scoring.model_answers import read_lane

LONGEST_AT_FIRST_SECONDS = 0.02
#: What it is multiplied by after a kill before the commit, and divided by after one behind it.
STEP = 1.25
#: By then the server has read whatever the dead worker had sent.
LATE_SECONDS = 0.2
STRIKE_SECONDS = 180.0
END_SECONDS = 600.0
#: Each kill uses up one of an activity's attempts and one of a stage's five.
MOST_ATTEMPTS = 3
WORKER = "worker-0"


@dataclass(slots=True)
class Answers:
    """``struck``: the lane in whose call each job's worker was killed. ``lost`` counts the calls, by job and lane, whose
    answers may not have been used: those that were struck, and what was asked in the milliseconds until the kill."""

    work: AskedModels
    dice: random.Random
    kills: int
    struck: dict[str, str] = field(default_factory=dict)
    lost: Counter[tuple[str, str]] = field(default_factory=Counter)
    run_ids: list[str] = field(default_factory=list)
    killed: int = 0
    longest_seconds: float = LONGEST_AT_FIRST_SECONDS
    _lanes: dict[str, str] = field(default_factory=dict)
    _target: Asked | None = None

    def run(self) -> None:
        """A run for each kill, all started at once: a worker that comes back has the next one before it."""
        jobs, models = self.work.list_unscored()[: self.kills], self.work.models
        self._lanes = {job: self.dice.choice(LANES) for job in jobs}
        models.before, models.after = self.freeze, self.strike
        self.run_ids = self.work.start_runs(*([job] for job in jobs))
        for number in range(1, self.kills + 1):
            self.work.workspace.wait_until(
                lambda number=number: self.killed == number,
                what=f"kill {number} with an answer",
                seconds=STRIKE_SECONDS,
            )
            self.work.programs.spawn(WORKER)
        for run_id in self.run_ids:
            self.work.workspace.wait_for_run(run_id, seconds=END_SECONDS)
        models.before = models.after = lambda _: None

    def freeze(self, asked: Asked) -> None:
        job, lane = self.find_asking(), read_lane(asked)
        if self._target is not None:
            self.lost[job, lane] += 1
        elif job not in self.struck and self._lanes[job] == lane:
            self.struck[job] = lane
            self.lost[job, lane] += 1
            self._target = asked
            os.kill(self.find_worker(), signal.SIGSTOP)

    def strike(self, asked: Asked) -> None:
        if asked is not self._target:
            return
        if len(self.struck) > 1:
            os.kill(self.find_worker(), signal.SIGCONT)
            time.sleep(self.dice.uniform(0.0, self.longest_seconds))
        self.work.programs.kill(WORKER)
        self.longest_seconds *= STEP if self.is_last_open() else 1 / STEP
        time.sleep(LATE_SECONDS)
        self._target = None
        self.killed += 1

    def find_asking(self) -> str:
        """The job that a call is about: its attempt was committed before, and the worker does one job at a time."""
        ((job_id,),) = self.work.workspace.query("SELECT job_id FROM llm_attempts ORDER BY opened_at DESC LIMIT 1")
        return str(UUID(str(job_id)))

    def is_last_open(self) -> bool:
        """Whether the call that was struck last has not been counted."""
        job, lane = list(self.struck.items())[-1]
        key = self.work.workspace.key_job(job)
        return bool(self.work.count_attempts("job_id = %s AND lane = %s AND state = 'open'", key, lane))

    def find_worker(self) -> int:
        return self.work.programs.processes[WORKER].pid

    # --- what must hold ------------------------------------------------------------------------

    def list_faults(self) -> list[str]:
        workspace = self.work.workspace
        done = workspace.manage("verify_projections")
        return [
            *self.work.find_uneven_books(),
            *self.find_unexplained(),
            *self.find_unfinished(),
            *find_doubles(workspace),
            *([f"the projections differ from the log: {done.stdout}"] if done.returncode else []),
        ]

    def find_unexplained(self) -> list[str]:
        """Each call that was not lost is counted, and once more for each that was; those may also be open. So may one that
        was on record and had not left when the worker was killed: the server never saw it."""
        rows = self.work.workspace.query("SELECT job_id, lane, state FROM llm_attempts")
        calls = Counter((str(UUID(str(job_id))), lane, state) for job_id, lane, state in rows)
        unsent, faults = len(rows) - len(self.work.models.requests), []
        for job, lane in ((job, lane) for job in self._lanes for lane in LANES):
            left_open, counted, lost = calls[job, lane, "open"], calls[job, lane, "counted"], self.lost[job, lane]
            unsent -= max(0, left_open - lost)
            if not 1 <= counted <= 1 + lost:
                faults.append(f"{counted} answers of {lane} were counted for a job of which {lost} were lost")
        return [*faults, *([f"{-unsent} attempts are open although their answers were not lost"] if unsent < 0 else [])]

    def find_unfinished(self) -> list[str]:
        """Nothing is used up by one kill, nor by a second that was meant for another job: everything ends well."""
        workspace = self.work.workspace
        ends, scored = self.work.wait_for_ends(self.run_ids), workspace.count_stages("score").get("succeeded", 0)
        claims = workspace.count("job_stage_states", "stage = 'score' AND attempts > %s", MOST_ATTEMPTS)
        calls = self.work.count_attempts("activity_attempt > %s", MOST_ATTEMPTS)
        return [
            *([f"{self.kills} runs ended as {dict(ends)}"] if ends != {("succeeded", ""): self.kills} else []),
            *([f"{scored} of {self.kills} jobs are scored"] if scored != self.kills else []),
            *([f"{claims} jobs needed more than {MOST_ATTEMPTS} attempts"] if claims else []),
            *([f"{calls} calls were made by more than {MOST_ATTEMPTS} attempts of an activity"] if calls else []),
        ]

    def describe(self) -> str:
        left_open = self.work.count_attempts("state = 'open'")
        return (
            f"{self.killed} workers killed ({dict(Counter(self.struck.values()))}), {left_open} of them before the commit; "
            f"{len(self.work.models.requests)} requests, {self.work.count_attempts()} attempts"
        )
