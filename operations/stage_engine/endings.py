"""How a claimed row ends by itself: its state, event and metric, and what that means for the stages after it."""

import logging
from uuid import UUID

from django.utils import timezone

from operations.contracts import StageState
from operations.database import OUTAGES
from operations.events import StageCompleted, StageExhausted, StageFailed
from operations.metrics import record_attempt
from operations.models import JobStageState
from operations.stage_engine.declaration import Settlement, Stage, get_stage
from operations.stage_engine.dependents import settle_dependents
from operations.stage_engine.rows import compute_cooldown, elapsed_ms, move_row

log = logging.getLogger(__name__)


def succeed_row(
    row: JobStageState, stage: Stage, settlement: Settlement, *, reused: bool, reason_code: str = ""
) -> None:
    """``reason_code`` says why the result counts although its run did not end well."""
    duration = elapsed_ms(row.started_at)
    move_row(
        row,
        StageState.SUCCEEDED,
        StageCompleted(
            job_id=row.job_id,
            stage=row.stage,
            attempt=row.attempts,
            duration_ms=duration,
            reused=reused,
            reason_code=reason_code,
            workflow_id=row.owner_workflow_id,
            run_id=row.owner_run_id,
        ),
        finished_at=timezone.now(),
        retryable=True,
        reason_code=reason_code,
    )
    record_ending(row, stage, outcome="succeeded", duration_ms=duration, counts=settlement.counts)
    settle_dependents(row.job_id, stage.name, StageState.SUCCEEDED, hold=settlement.hold)


def fail_row(row: JobStageState, stage: Stage, *, code: str, message: str, retryable: bool) -> None:
    duration = elapsed_ms(row.started_at)
    move_row(
        row,
        StageState.FAILED,
        StageFailed(
            job_id=row.job_id,
            stage=row.stage,
            attempt=row.attempts,
            error_code=code,
            message=message,
            retryable=retryable,
            duration_ms=duration,
            workflow_id=row.owner_workflow_id,
            run_id=row.owner_run_id,
        ),
        error_code=code,
        error_message=message,
        retryable=retryable,
        finished_at=timezone.now(),
        next_attempt_at=timezone.now() + compute_cooldown(row.attempts) if retryable else None,
    )
    record_ending(row, stage, outcome="failed", duration_ms=duration, error=(code, message))
    settle_dependents(row.job_id, stage.name, StageState.FAILED)


def exhaust_row(row: JobStageState, *, code: str, message: str) -> None:
    stage = get_stage(row.stage)
    duration = elapsed_ms(row.started_at) if row.state == StageState.RUNNING else 0
    move_row(
        row,
        StageState.EXHAUSTED,
        StageExhausted(
            job_id=row.job_id,
            stage=row.stage,
            attempt=row.attempts,
            error_code=code,
            message=message,
            duration_ms=duration,
            workflow_id=row.owner_workflow_id,
            run_id=row.owner_run_id,
        ),
        error_code=code,
        error_message=message,
        retryable=False,
        finished_at=timezone.now(),
    )
    record_ending(row, stage, outcome="exhausted", duration_ms=duration, error=(code, message))
    settle_dependents(row.job_id, stage.name, StageState.EXHAUSTED)


def record_ending(
    row: JobStageState,
    stage: Stage,
    *,
    outcome: str,
    duration_ms: int | None = None,
    counts: dict[str, int] | None = None,
    error: tuple[str, str] = ("", ""),
) -> None:
    """The metric of one claim's end; ``error`` is a code and our own sentence for it."""
    record_attempt(
        stage=row.stage,
        attempt_kind="stage",
        attempt=row.attempts,
        outcome=outcome,
        counts=counts or {},
        duration_ms=elapsed_ms(row.started_at) if duration_ms is None else duration_ms,
        error_class=error[0],
        error_message=error[1],
        run_id=row.owner_run_id,
        job_id=row.job_id,
        job_url=find_job_url(stage, row.job_id),
    )


def find_job_url(stage: Stage, job_id: UUID) -> str:
    """A metric's address is worth no ending."""
    try:
        return stage.describe_job(job_id)
    except OUTAGES:
        raise
    except Exception as error:
        log.error("naming the page of job %s raised %s", job_id, type(error).__name__)
        return ""
