"""How far a batch is: how its jobs have ended so far, and what keeps the others from being begun."""

import logging
from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from operations.contracts import StageName, StageReport, StageState
from operations.database import OUTAGES
from operations.log_lines import note_places
from operations.stage_engine import WorkResult, get_stage

log = logging.getLogger(__name__)


class Progress:
    """``stop`` is what nothing more is begun for: the day's money is spent, or a provider is paused or busy.

    A lane at its own limit holds only the jobs that would begin with it.
    """

    def __init__(self, stage: StageName, earlier: Iterable[StageReport]) -> None:
        self.stage = stage
        self.stop: WorkResult | None = None
        self._reports = {report.job_id: report for report in earlier}
        self._full_lanes: dict[str, WorkResult] = {}
        self._again: set[str] = set()

    def note(self, result: WorkResult) -> None:
        job_id = result.report.job_id
        self._reports[job_id] = result.report
        if result.retryable:
            self._again.add(job_id)
        if result.waits and result.lane:
            self._full_lanes.setdefault(result.lane, result)
        elif result.waits or result.retry_after is not None:
            self.stop = result

    def find_hold(self, job_id: UUID) -> WorkResult | None:
        """Why this job is not to be begun; ``None`` where nothing is known to be in its way."""
        if self.stop is not None or not self._full_lanes:
            return self.stop
        return self._full_lanes.get(self._find_first_lane(job_id))

    def leave(self, job_id: UUID, hold: WorkResult) -> None:
        """The job stays in line."""
        self._reports[str(job_id)] = StageReport(str(job_id), self.stage, StageState.PENDING, hold.report.code)

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
