"""Verbs on stage rows that people and other apps use."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from operations.contracts import StageName, StageState
from operations.database import writer
from operations.events import StageMarkedStale
from operations.models import JobListProjection, JobStageState
from operations.stage_engine.declaration import Hold
from operations.stage_engine.dependents import settle_dependents
from operations.stage_engine.rows import RowMove, enroll_jobs, move_rows, plan_reset, void_leases

__all__ = [
    "ResetReport",
    "enroll_jobs",
    "find_rows",
    "hold_dependents",
    "list_unfit_jobs",
    "mark_stale",
    "reset_stages",
    "void_leases",
]

PAGE = 500


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
    moves: list[RowMove] = []
    with writer():
        wanted = list(dict.fromkeys(job_ids))
        rows = find_rows(stage, wanted)
        for job_id in wanted:
            row = rows.get(job_id)
            if row is None:
                refused[job_id] = "NO_SUCH_ROW"
            elif row.state in (StageState.RUNNING, StageState.QUEUED):
                refused[job_id] = "ACTIVE_WORK"
            elif row.state == StageState.PENDING:
                refused[job_id] = "ALREADY_PENDING"
            else:
                moves.append(plan_reset(row, reason_code=reason_code, attempts=0, keeps_owner=False))
                done.append(job_id)
        move_rows(moves)
    return ResetReport(tuple(done), refused)


def list_unfit_jobs(stage: StageName, job_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Jobs on which a run of this stage would find nothing to do now, each with a bounded code. Pdf has no row until
    it is claimed."""
    wanted = list(dict.fromkeys(job_ids))
    rows = find_rows(stage, wanted)
    deleted = _find_deleted(wanted)
    found: dict[UUID, str] = {}
    for job_id in wanted:
        row = rows.get(job_id)
        if job_id in deleted:
            found[job_id] = "JOB_DELETED"
        elif row is not None and row.state in (StageState.RUNNING, StageState.QUEUED):
            found[job_id] = "ACTIVE_WORK"
        elif row is None and stage is not StageName.PDF:
            found[job_id] = "NO_SUCH_ROW"
    return found


def _find_deleted(job_ids: list[UUID]) -> set[UUID]:
    found: set[UUID] = set()
    for start in range(0, len(job_ids), PAGE):
        rows = JobListProjection.objects.filter(job_id__in=job_ids[start : start + PAGE], deleted=True)
        found.update(rows.values_list("job_id", flat=True))
    return found


def mark_stale(stage: StageName, job_ids: Iterable[UUID], *, reason_code: str) -> int:
    """What a finished stage was made from has changed: the next run does it anew, its attempts from 0.

    The accepted result stays in use until then, and so do the stages after it. Only succeeded rows
    change; returns how many did. Joins the caller's ``writer()``.
    """
    with writer():
        rows = find_rows(stage, list(dict.fromkeys(job_ids)))
        moves = [
            RowMove(
                row,
                StageState.STALE,
                StageMarkedStale(job_id=row.job_id, stage=stage, reason_code=reason_code),
                {"reason_code": reason_code, "attempts": 0},
            )
            for row in rows.values()
            if row.state == StageState.SUCCEEDED
        ]
        move_rows(moves)
    return len(moves)


def hold_dependents(job_id: UUID, stage: StageName, state: StageState, *, hold: Hold) -> int:
    """Apply or release a policy hold on the stages after a finished one; returns the number of changes."""
    with writer():
        row = JobStageState.objects.filter(job_id=job_id, stage=stage, state=state).first()
        return 0 if row is None else settle_dependents(job_id, stage, state, hold=hold)


def find_rows(stage: StageName, job_ids: list[UUID]) -> dict[UUID, JobStageState]:
    found: dict[UUID, JobStageState] = {}
    for start in range(0, len(job_ids), PAGE):
        part = job_ids[start : start + PAGE]
        found.update({row.job_id: row for row in JobStageState.objects.filter(stage=stage, job_id__in=part)})
    return found
