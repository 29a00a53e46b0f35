"""How far a batch is: how its jobs have ended so far, what keeps the others from being begun, and for how long."""

import logging
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from operations.contracts import StageName, StageReport, StageState
from operations.database import OUTAGES
from operations.log_lines import note_places
from operations.stage_engine import WorkResult, get_stage

log = logging.getLogger(__name__)

LEAST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=60)
MOST_FRUITLESS = 3
MOST_TRIES = 3  # of one job in one attempt of the activity


class Patience:
    """For a provider that is busy and says for how long a batch waits where it is, as limits of a minute are usual.

    Not for more than ``LONGEST_PAUSE``, not once ``MOST_FRUITLESS`` pauses in a row have led to another, and not for
    more than ``in_all``: the rest is for the activity's next attempt then.
    """

    def __init__(self, in_all: timedelta) -> None:
        self._left = in_all
        self._fruitless = 0
        self._tries: Counter[str] = Counter()

    def find_pause(self, result: WorkResult) -> timedelta | None:
        """How long to wait after this job; ``None`` where nobody asked for it, or that is not waited for here."""
        self._tries[result.report.job_id] += 1
        if result.retry_after is None:
            self._fruitless = 0
            return None
        pause = max(result.retry_after, LEAST_PAUSE)
        self._fruitless += 1
        if pause > min(LONGEST_PAUSE, self._left) or self._fruitless > MOST_FRUITLESS:
            return None
        self._left -= pause
        return pause

    def may_try_again(self, result: WorkResult) -> bool:
        return result.retryable and self._tries[result.report.job_id] < MOST_TRIES


class Progress:
    """``stop`` is what nothing more is begun for: the day's money is spent, or a provider is paused or busy.

    A lane at its own limit holds only the jobs that would begin with it.
    """

    def __init__(self, stage: StageName, earlier: Iterable[StageReport]) -> None:
        self.stage = stage
        self.stop: WorkResult | None = None
        self.retry_after: timedelta | None = None  # what whoever refused last asked for, while nobody was asked since
        self._reports = {report.job_id: report for report in earlier}
        self._full_lanes: dict[str, WorkResult] = {}
        self._again: set[str] = set()

    def note(self, result: WorkResult, *, stops: bool) -> None:
        """How a job ended; one that was busy before ends anew. ``stops`` = nothing more is begun after it."""
        job_id = result.report.job_id
        self._reports[job_id] = result.report
        if result.retryable:
            self._again.add(job_id)
        else:
            self._again.discard(job_id)
        if self.stop is None:
            self.retry_after = result.retry_after
        if result.waits and result.lane:
            self._full_lanes.setdefault(result.lane, result)
        elif result.waits or stops:
            self.stop = result

    def has_tried(self, job_id: UUID) -> bool:
        return str(job_id) in self._reports

    def find_hold(self, job_id: UUID) -> WorkResult | None:
        """Why this job is not to be begun; ``None`` where nothing is known to be in its way."""
        if self.stop is not None or not self._full_lanes:
            return self.stop
        return self._full_lanes.get(self._find_first_lane(job_id))

    def leave(self, job_id: UUID, hold: WorkResult) -> None:
        """The job stays in line, or as its last try has left it."""
        report = StageReport(str(job_id), self.stage, StageState.PENDING, hold.report.code)
        self._reports.setdefault(report.job_id, report)

    @property
    def is_to_be_repeated(self) -> bool:
        """Some jobs failed in a way that may pass, and nothing that a later attempt would run into was met."""
        return bool(self._again) and not (self.stop is not None and self.stop.waits)

    @property
    def wait(self) -> WorkResult | None:
        """What a batch without further attempts ends with, as long as it left a job in line for that."""
        left = self.count_states()[StageState.PENDING]
        return (self.stop or next(iter(self._full_lanes.values()), None)) if left else None

    @property
    def failures(self) -> list[StageReport]:
        return [one for one in self._reports.values() if one.state in (StageState.FAILED, StageState.EXHAUSTED)]

    def count_states(self) -> Counter[str]:
        return Counter(report.state for report in self._reports.values())

    def __len__(self) -> int:
        return len(self._reports)

    def _find_first_lane(self, job_id: UUID) -> str:
        """A job whose app cannot say is begun; the check before each attempt decides then."""
        try:
            return get_stage(self.stage).find_first_lane(job_id)
        except OUTAGES:
            raise
        except Exception as error:
            log.error("asking %s for a lane of job %s raised %s", self.stage, job_id, type(error).__name__)
            note_places(log, error)
            return ""
