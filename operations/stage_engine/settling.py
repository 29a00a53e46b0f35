"""Settling rows in their owner's place: after its end, at its cancellation, or before its next attempt selects work.

Everywhere a result that was committed since the claim is accepted, and nothing of another run is touched.
"""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import TextField

from operations.compiled import CompiledQuery
from operations.contracts import StageName, StageState
from operations.database import OUTAGES, require_write, writer
from operations.ended_runs import find_stop_time, has_run_ended
from operations.log_lines import note_places
from operations.models import JobStageState
from operations.stage_engine.declaration import Owner, get_stage
from operations.stage_engine.dependents import settle_dependents
from operations.stage_engine.endings import exhaust_row, fail_row, record_ending, succeed_row
from operations.stage_engine.hooks import call_quietly
from operations.stage_engine.lifecycle import CANCELED, read_claim
from operations.stage_engine.rows import cancel_row, reset_row
from operations.stage_engine.statements import find_stage_row, list_rows_in_stage

log = logging.getLogger(__name__)

HELD = (StageState.RUNNING, StageState.QUEUED)
RESULT_KEPT = "RESULT_KEPT"
SLICE = 50  # rows in one transaction, where they may be many
_HELD_BY = CompiledQuery(lambda run_id: JobStageState.owned_by(run_id).filter(state__in=HELD), TextField())
_ORDER = {stage: number for number, stage in enumerate(StageName)}


@dataclass(frozen=True, slots=True)
class Loss:
    """What a row's failure says of whoever worked on it."""

    code: str
    message: str


OWNER_ENDED = Loss("OWNER_ENDED", "The run that worked on this ended before it had a result.")
WORKER_LOST = Loss("WORKER_LOST", "The worker that worked on this stopped before it had a result.")


@dataclass(frozen=True, slots=True)
class Settled:
    """Rows by what became of them: a result kept, a failed attempt, a cancellation, or back in line (a queued one)."""

    restored: int = 0
    failed: int = 0
    canceled: int = 0
    released: int = 0

    def __add__(self, other: "Settled") -> "Settled":
        return Settled(
            self.restored + other.restored,
            self.failed + other.failed,
            self.canceled + other.canceled,
            self.released + other.released,
        )

    @property
    def total(self) -> int:
        return self.restored + self.failed + self.canceled + self.released


def settle_owned_rows(run_id: str, *, canceled: bool = False) -> Settled:
    """Settle what a run that has ended still holds, inside ``writer()``.

    What it works on fails or, where it was canceled, is canceled; so is what it had only reserved, which otherwise
    waits again and has lost no attempt. Running it again changes nothing.
    """
    return settle_rows(_HELD_BY.rows(run_id), canceled=canceled)


def cancel_owned_cohort(workflow_id: str, run_id: str) -> Settled:
    """Cancel all that is exactly this run's: what it works on, has reserved, or had put back and nobody has reclaimed.

    Inside ``writer()``; running it again changes nothing.
    """
    states = (*HELD, StageState.PENDING)
    owned = JobStageState.owned_by(run_id).filter(owner_workflow_id=workflow_id, state__in=states)
    return settle_rows(list(owned), canceled=True)


def cancel_selected_rows(owner: Owner, stage: StageName, job_ids: Sequence[UUID]) -> Settled:
    """Cancel what a canceled run was to do of the jobs chosen for it; in slices, so it may be repeated at any point.

    What another run works on, has reserved, or had put back and may come back for, is not this one's to cancel; nor is
    what was put back or promised to another run after this one was known to stop.
    """
    settled, stopped_at = Settled(), find_stop_time(owner.run_id)
    for start in range(0, len(job_ids), SLICE):
        with writer():
            rows = list_rows_in_stage(stage, job_ids[start : start + SLICE])
            own = [row for row in rows if _is_cancelable(row, owner.run_id, stopped_at)]
            settled += settle_rows(own, canceled=True)
    return settled


def _is_cancelable(row: JobStageState, run_id: str, stopped_at: datetime | None) -> bool:
    if row.owner_run_id == run_id:
        return row.state in (*HELD, StageState.PENDING)
    if row.state != StageState.PENDING or (stopped_at is not None and row.updated_at >= stopped_at):
        return False
    return not row.owner_run_id or has_run_ended(row.owner_run_id)


def settle_earlier_attempts(stage: StageName, owner: Owner, job_ids: Collection[UUID] | None) -> Settled:
    """Before an activity's later attempt selects its work: end what its earlier attempts left running.

    An uncommitted row becomes retryable, whether or not this attempt will select it. ``job_ids`` are the activity's own
    where it has any: other activities of the run, beside it, work on other jobs.
    """
    if owner.attempt <= 1:
        return Settled()
    rows = JobStageState.owned_by(owner.run_id).filter(
        stage=stage, state=StageState.RUNNING, owner_attempt__lt=owner.attempt
    )
    with writer():
        own = [row for row in rows if job_ids is None or row.job_id in job_ids]
        return settle_rows(own, loss=WORKER_LOST)


def settle_rows(rows: Iterable[JobStageState], *, canceled: bool = False, loss: Loss = OWNER_ENDED) -> Settled:
    """Settle each row by itself, inside ``writer()``, the later stages of a job first.

    One whose app raises is left as it is and logged: the others do not wait for it, and recovery comes back for it.
    """
    write, settled = require_write(), Settled()
    for row in sorted(rows, key=lambda row: (-_ORDER[StageName(row.stage)], row.pk)):
        try:
            with write.savepoint():
                settled += _settle(row, canceled=canceled, loss=loss)
        except OUTAGES:
            raise
        except Exception as error:
            name = type(error).__name__
            log.error("settling %s of job %s raised %s", row.stage, row.job_id, name)
            note_places(log, error)
    return settled


def _settle(listed: JobStageState, *, canceled: bool, loss: Loss) -> Settled:
    row = find_stage_row(listed.job_id, listed.stage)  # one before it may have moved this one
    if row is None or (row.state, row.lease_epoch) != (listed.state, listed.lease_epoch):
        return Settled()
    if row.state == StageState.RUNNING:
        return _settle_running(row, canceled=canceled, loss=loss)
    if canceled:
        cancel_row(row, reason_code="workflow_canceled")
        settle_dependents(row.job_id, StageName(row.stage), StageState.CANCELED)
        return Settled(canceled=1)
    if row.state == StageState.QUEUED:
        reset_row(row, reason_code="owner_ended")
        return Settled(released=1)
    return Settled()


def _settle_running(row: JobStageState, *, canceled: bool, loss: Loss) -> Settled:
    stage = get_stage(row.stage)
    if stage.find_result_version(row.job_id) > row.baseline_version:
        why = RESULT_KEPT if canceled else ""
        succeed_row(row, stage, stage.settle_found(row.job_id), reused=True, reason_code=why)
        return Settled(restored=1)
    claim = read_claim(row)
    if canceled:
        call_quietly(lambda: stage.record_cancellation(claim), of=stage.name)
        record_ending(row, stage, outcome="canceled", error=CANCELED)
        cancel_row(row, reason_code="workflow_canceled")
        settle_dependents(row.job_id, stage.name, StageState.CANCELED)
        return Settled(canceled=1)
    retryable = row.attempts < stage.max_attempts
    call_quietly(lambda: stage.record_failure(claim, code=loss.code, retryable=retryable), of=stage.name)
    if retryable:
        fail_row(row, stage, code=loss.code, message=loss.message, retryable=True)
    else:
        exhaust_row(row, code=loss.code, message=loss.message)
    return Settled(failed=1)
