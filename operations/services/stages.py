"""Verbs on stage rows that people and other apps use."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from operations.contracts import StageName, StageState
from operations.database import writer
from operations.models import JobStageState
from operations.stage_engine.rows import enroll_jobs, reset_row, void_leases

__all__ = ["ResetReport", "enroll_jobs", "reset_stages", "void_leases"]


@dataclass(frozen=True, slots=True)
class ResetReport:
    reset: tuple[UUID, ...]
    refused: dict[UUID, str]


def reset_stages(stage: StageName, job_ids: Iterable[UUID], *, reason_code: str = "operator") -> ResetReport:
    """Return rows to ``pending`` with their attempts at 0, keeping accepted content.

    A running or queued row is refused: cancel its workflow first. What this stage had blocked waits until it succeeds.
    """
    done: list[UUID] = []
    refused: dict[UUID, str] = {}
    with writer():
        for job_id in job_ids:
            row = JobStageState.objects.filter(job_id=job_id, stage=stage).first()
            if row is None:
                refused[job_id] = "NO_SUCH_ROW"
            elif row.state in (StageState.RUNNING, StageState.QUEUED):
                refused[job_id] = "ACTIVE_WORK"
            elif row.state == StageState.PENDING:
                refused[job_id] = "ALREADY_PENDING"
            else:
                reset_row(row, reason_code=reason_code, attempts=0)
                done.append(job_id)
    return ResetReport(tuple(done), refused)
