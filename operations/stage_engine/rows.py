"""Reading and moving stage rows; every move but queuing appends its typed event."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from operations.contracts import ENROLLED_STAGES, StageName, StageState
from operations.database import require_write
from operations.errors import UnknownJob
from operations.eventlog import append_all
from operations.eventlog.registry import Event
from operations.events import StageBlocked, StageCanceledEvent, StageReset, StageSkipped
from operations.models import JobStageState
from operations.stage_engine.counters import note_added, note_moved
from operations.stage_engine.statements import find_stage_row, list_stage_rows, update_stage_rows
from operations.stage_engine.states import check_transition

MAX_COOLDOWN_SECONDS = 1800
SLICE = 500


def enroll_jobs(job_ids: Iterable[UUID]) -> None:
    """Give new jobs their stage rows, all ``pending``; ``JobDiscovered`` is their event."""
    require_write()
    now = timezone.now()
    wanted = list(dict.fromkeys(job_ids))
    known = set(JobStageState.objects.filter(job_id__in=wanted).values_list("job_id", flat=True))
    new = [job_id for job_id in wanted if job_id not in known]
    for stage in ENROLLED_STAGES:
        note_added(stage, StageState.PENDING, count=len(new))
    JobStageState.objects.bulk_create(
        [
            JobStageState(tenant_id=settings.TENANT_ID, job_id=job_id, stage=stage, updated_at=now)
            for job_id in new
            for stage in ENROLLED_STAGES
        ],
        batch_size=500,
    )


def get_row(job_id: UUID, stage: StageName) -> JobStageState:
    """The row, made on the fly for a stage that has none until it is first claimed (pdf).

    Raises ``UnknownJob`` for a job that was never enrolled in any stage.
    """
    row = find_stage_row(job_id, stage)
    if row is not None:
        return row
    require_write()
    if not JobStageState.objects.filter(job_id=job_id).exists():
        raise UnknownJob
    note_added(stage, StageState.PENDING)
    return JobStageState.objects.create(
        tenant_id=settings.TENANT_ID, job_id=job_id, stage=stage, updated_at=timezone.now()
    )


def load_rows(job_id: UUID) -> dict[StageName, JobStageState]:
    return {StageName(row.stage): row for row in list_stage_rows(job_id)}


def compute_cooldown(attempts: int) -> timedelta:
    """How long automatic recovery waits after a failed attempt (seed, Automatic Preparation Recovery)."""
    return timedelta(seconds=min(MAX_COOLDOWN_SECONDS, 60 * 2**attempts))


@dataclass(frozen=True, slots=True)
class RowMove:
    """One row's move, its event and the columns that change with it; nothing has happened yet."""

    row: JobStageState
    state: StageState
    event: Event | None
    changes: dict[str, object]


def move_row(row: JobStageState, state: StageState, event: Event | None, **changes: object) -> None:
    """Set a row's state with ``changes``, refusing a move that the state machine does not know."""
    move_rows([RowMove(row, state, event, changes)])


def move_rows(moves: Sequence[RowMove]) -> None:
    """Make several moves, all of them known to the state machine or none; two statements for those that are alike."""
    require_write()
    for move in moves:
        check_transition(move.row.stage, move.row.state, move.state)
    now = timezone.now()
    alike: dict[tuple[str, ...], list[JobStageState]] = {}
    for move in moves:
        row = move.row
        note_moved(row.stage, row.state, move.state)
        row.state = move.state
        for name, value in move.changes.items():
            setattr(row, name, value)
        row.updated_at = now
        alike.setdefault(("state", "updated_at", *move.changes), []).append(row)
    for names, rows in alike.items():
        update_stage_rows(rows, names)
    append_all([move.event for move in moves if move.event is not None])


def block_row(row: JobStageState, *, reason_code: str, blocked_by: str = "", owner_run_id: str = "") -> None:
    move_rows([plan_block(row, reason_code=reason_code, blocked_by=blocked_by, owner_run_id=owner_run_id)])


def plan_block(row: JobStageState, *, reason_code: str, blocked_by: str = "", owner_run_id: str = "") -> RowMove:
    event = StageBlocked(
        job_id=row.job_id, stage=row.stage, reason_code=reason_code, blocked_by=blocked_by, run_id=owner_run_id
    )
    changes = {
        "reason_code": reason_code,
        "blocked_by": blocked_by,
        "retryable": False,
        "finished_at": timezone.now(),
    }
    return RowMove(row, StageState.BLOCKED, event, changes)


def skip_row(row: JobStageState, *, reason_code: str, owner_run_id: str = "") -> None:
    move_rows([plan_skip(row, reason_code=reason_code, owner_run_id=owner_run_id)])


def plan_skip(row: JobStageState, *, reason_code: str, owner_run_id: str = "") -> RowMove:
    event = StageSkipped(job_id=row.job_id, stage=row.stage, reason_code=reason_code, run_id=owner_run_id)
    return RowMove(
        row,
        StageState.SKIPPED,
        event,
        {"reason_code": reason_code, "blocked_by": "", "finished_at": timezone.now()},
    )


def cancel_row(row: JobStageState, *, reason_code: str) -> None:
    move_row(
        row,
        StageState.CANCELED,
        StageCanceledEvent(
            job_id=row.job_id,
            stage=row.stage,
            reason_code=reason_code,
            workflow_id=row.owner_workflow_id,
            run_id=row.owner_run_id,
        ),
        reason_code=reason_code,
        retryable=False,
        finished_at=timezone.now(),
        lease_epoch=row.lease_epoch + 1,
    )


def reset_row(row: JobStageState, *, reason_code: str, attempts: int | None = None, waits_for: str = "") -> None:
    """Return a row to ``pending``. Attempts are kept unless given; the old lease is void either way. ``waits_for`` is
    what the row has to wait for, "" where nothing."""
    move_rows([plan_reset(row, reason_code=reason_code, attempts=attempts, waits_for=waits_for)])


def plan_reset(
    row: JobStageState, *, reason_code: str, attempts: int | None = None, keeps_owner: bool = True, waits_for: str = ""
) -> RowMove:
    """A released row stays its last owner's until somebody claims it; one that a person put back is nobody's."""
    kept = row.attempts if attempts is None else attempts
    event = StageReset(
        job_id=row.job_id,
        stage=row.stage,
        from_state=row.state,
        reason_code=reason_code,
        attempts=kept,
        workflow_id=row.owner_workflow_id,
        run_id=row.owner_run_id,
    )
    changes = {
        "attempts": kept,
        "retryable": True,
        "reason_code": waits_for,
        "blocked_by": "",
        "error_code": "",
        "error_message": "",
        "next_attempt_at": None,
        "lease_epoch": row.lease_epoch + 1,
    }
    if not keeps_owner:
        changes |= {"owner_workflow_id": "", "owner_run_id": "", "owner_attempt": 0}
    return RowMove(row, StageState.PENDING, event, changes)


def renew_pending(stage: StageName, job_ids: Sequence[UUID]) -> None:
    """Note that these rows are promised to a run now: an older one that is canceled late leaves them alone."""
    require_write()
    rows = JobStageState.objects.filter(stage=stage, state=StageState.PENDING)
    for start in range(0, len(job_ids), SLICE):
        rows.filter(job_id__in=job_ids[start : start + SLICE]).update(updated_at=timezone.now())


def elapsed_ms(since: datetime | None) -> int:
    return 0 if since is None else max(0, int((timezone.now() - since).total_seconds() * 1000))


def void_leases(job_id: UUID) -> None:
    """Make every running stage of a job lose its lease, so that nothing more is published for it."""
    require_write()
    JobStageState.objects.filter(job_id=job_id).update(lease_epoch=F("lease_epoch") + 1)
