"""Claim, publish and settle: the fenced transitions of one job in one stage.

Nothing here holds a lock while work runs. A claim advances the row's lease epoch; whoever comes
back with an older epoch has lost the row and writes nothing.
"""

from typing import Any
from uuid import UUID

from django.utils import timezone

from operations.contracts import OWNED_BY_OTHER_RUN, STAGE_AFTER, ExecutionRef, StageName, StageState
from operations.database import writer
from operations.ended_runs import RunStop, find_run_stop
from operations.errors import LeaseLost, StageCanceled, UnknownJob
from operations.events import StageStarted
from operations.metrics import record_attempt
from operations.models import JobStageState
from operations.stage_engine.declaration import (
    Claim,
    Owner,
    Refusal,
    Settlement,
    Stage,
    find_gate_refusal,
    get_stage,
)
from operations.stage_engine.dependents import settle_dependents
from operations.stage_engine.endings import exhaust_row, fail_row, find_job_url, record_ending, succeed_row
from operations.stage_engine.hooks import call_quietly
from operations.stage_engine.rows import (
    block_row,
    cancel_row,
    get_row,
    move_row,
    reset_row,
    skip_row,
)
from operations.stage_engine.statements import find_stage_row
from operations.stage_engine.states import CLAIMABLE

WORKER_LOST_MESSAGE = "The worker was gone; a later attempt came for its row."
CANCELED = (StageCanceled.code, "Its run was canceled.")
OWNER_LOST_MESSAGE = "The run that worked on this cannot be found; an operator released it."


def claim_stage(
    job_id: UUID,
    stage_name: StageName,
    *,
    owner: Owner,
    profile_version: int,
    execution_ref: ExecutionRef | None = None,
    waits_for: str = "",
) -> Claim | Refusal:
    """Ask for one job's stage; safe to repeat, since a result committed before is accepted, not redone.

    A running row of the same run is taken over by a later activity attempt (its worker died); one
    of another run is refused, and so is any for a run that has ended or was asked to stop. Each claim counts one
    attempt. Where the run waits for something (``waits_for``, a code) nothing is begun: what would be stays in line.
    """
    stage = get_stage(stage_name)
    with writer():
        try:
            row = get_row(job_id, stage_name)
        except UnknownJob as unknown:
            return Refusal(StageState.FAILED, unknown.code)
        if row.state == StageState.SUCCEEDED:
            return Refusal(StageState.SUCCEEDED, "DONE")
        if row.state == StageState.RUNNING:
            refusal = _check_takeover(row, owner)
            if refusal is not None:
                return refusal
            if stage.find_result_version(job_id) > row.baseline_version:
                succeed_row(row, stage, stage.settle_found(row.job_id), reused=True)
                return Refusal(StageState.SUCCEEDED, "DONE")
        elif StageState(row.state) not in CLAIMABLE:
            return Refusal(row.state, row.reason_code or row.error_code)
        elif row.state == StageState.FAILED and not row.retryable:
            return Refusal(row.state, row.error_code)
        if (stopped := _check_stop(owner)) is not None:
            return stopped
        refusal = (
            find_gate_refusal(job_id)
            or _check_prerequisite(row)
            or stage.find_refusal(job_id, profile_version=profile_version)
        )
        if refusal is not None:
            _close_attempt(row, stage, code=refusal.code)
            _note_abandoned(row, stage)
            _settle_refusal(row, refusal, owner)
            return refusal
        if row.attempts >= stage.max_attempts:
            _close_attempt(row, stage, code="ATTEMPTS_EXHAUSTED")
            exhaust_row(row, code=row.error_code or "ATTEMPTS_EXHAUSTED", message=row.error_message)
            return Refusal(StageState.EXHAUSTED, row.error_code)
        if waits_for:
            return Refusal(StageState.PENDING, waits_for)
        return _start(row, stage, owner, profile_version, execution_ref)


def _check_takeover(row: JobStageState, owner: Owner) -> Refusal | None:
    if row.owner_run_id != owner.run_id:
        return Refusal(StageState.RUNNING, OWNED_BY_OTHER_RUN)
    if owner.attempt < row.owner_attempt:
        return Refusal(StageState.RUNNING, "LEASE_LOST")
    return None


def _check_stop(owner: Owner) -> Refusal | None:
    """A late activity of an ended run would leave a row that nobody settles; what is asked to stop begins nothing."""
    match find_run_stop(owner.run_id):
        case RunStop.ENDED:
            return Refusal(StageState.SKIPPED, "RUN_ENDED")
        case RunStop.CANCEL_REQUESTED:
            return Refusal(StageState.CANCELED, StageCanceled.code)
    return None


def _check_prerequisite(row: JobStageState) -> Refusal | None:
    before = STAGE_AFTER[StageName(row.stage)]
    if before is None:
        return None
    upstream = find_stage_row(row.job_id, before)
    if upstream is not None and upstream.state == StageState.SUCCEEDED:
        return None
    return Refusal(row.state, f"WAITS_FOR_{before.upper()}")


def _close_attempt(row: JobStageState, stage: Stage, *, code: str, retryable: bool = False) -> None:
    """End in the stage's own records what a dead worker had begun, where its row is not worked on any more."""
    if row.state == StageState.RUNNING:
        claim = read_claim(row)
        call_quietly(lambda: stage.record_failure(claim, code=code, retryable=retryable), of=stage.name)


def _note_abandoned(row: JobStageState, stage: Stage) -> None:
    """The metric of an attempt that its dead worker could not end."""
    if row.state == StageState.RUNNING:
        record_ending(row, stage, outcome="abandoned", error=("WORKER_LOST", WORKER_LOST_MESSAGE))


def read_claim(row: JobStageState) -> Claim:
    """The claim that a running row was given to, for whoever ends it in its owner's place; without its profile."""
    ref = ExecutionRef(row.tenant_id, row.execution_workflow_id, row.execution_run_id) if row.execution_run_id else None
    owner = Owner(row.owner_workflow_id, row.owner_run_id, row.owner_attempt)
    return Claim(row.job_id, StageName(row.stage), owner, row.lease_epoch, row.attempts, row.baseline_version, 0, ref)


def _settle_refusal(row: JobStageState, refusal: Refusal, owner: Owner) -> None:
    if refusal.settle_as is StageState.BLOCKED:
        block_row(row, reason_code=refusal.code, blocked_by=refusal.blocked_by, owner_run_id=owner.run_id)
    elif refusal.settle_as is StageState.SKIPPED:
        skip_row(row, reason_code=refusal.code, owner_run_id=owner.run_id)
    else:
        if row.state == StageState.RUNNING:  # its worker died, and it may not be started again now
            reset_row(row, reason_code="owner_recovered")
        return
    settle_dependents(row.job_id, StageName(row.stage), refusal.settle_as)


def _start(
    row: JobStageState, stage: Stage, owner: Owner, profile_version: int, execution_ref: ExecutionRef | None
) -> Claim:
    _note_abandoned(row, stage)
    attempt = row.attempts + 1
    baseline = stage.find_result_version(row.job_id)
    move_row(
        row,
        StageState.RUNNING,
        StageStarted(
            job_id=row.job_id, stage=row.stage, attempt=attempt, workflow_id=owner.workflow_id, run_id=owner.run_id
        ),
        attempts=attempt,
        owner_workflow_id=owner.workflow_id,
        owner_run_id=owner.run_id,
        owner_attempt=owner.attempt,
        execution_workflow_id=execution_ref.workflow_id if execution_ref else "",
        execution_run_id=execution_ref.run_id if execution_ref else "",
        lease_epoch=row.lease_epoch + 1,
        baseline_version=baseline,
        started_at=timezone.now(),
        finished_at=None,
        next_attempt_at=None,
        error_code="",
        error_message="",
        reason_code="",
        blocked_by="",
        retryable=True,
    )
    return Claim(row.job_id, stage.name, owner, row.lease_epoch, attempt, baseline, profile_version, execution_ref)


def _get_fenced(claim: Claim) -> JobStageState:
    row = find_stage_row(claim.job_id, claim.stage)
    if row is None:
        raise JobStageState.DoesNotExist
    if row.state != StageState.RUNNING or row.lease_epoch != claim.epoch or row.owner_run_id != claim.owner.run_id:
        raise LeaseLost
    return row


def check_lease(claim: Claim) -> JobStageState:
    """Inside ``writer()``, before anything of a claim is stored; returns its row.

    Raises ``LeaseLost`` behind the fence, and ``StageCanceled`` once the run was asked to stop.
    """
    row = _get_fenced(claim)
    if find_run_stop(claim.owner.run_id) is not None:
        raise StageCanceled
    return row


def publish_stage(claim: Claim, result: Any) -> Settlement:
    """Store a result and settle its row in one transaction; raises as ``check_lease`` does."""
    stage = get_stage(claim.stage)
    with writer():
        row = check_lease(claim)
        settlement = stage.publish(claim, result)
        succeed_row(row, stage, settlement, reused=False)
    return settlement


def settle_failure(claim: Claim, *, code: str, message: str, retryable: bool) -> StageState:
    """Record a failed attempt behind the fence; the last allowed one exhausts the row."""
    stage = get_stage(claim.stage)
    with writer():
        row = _get_fenced(claim)
        call_quietly(lambda: stage.record_failure(claim, code=code, retryable=retryable), of=stage.name)
        if retryable and row.attempts >= stage.max_attempts:
            exhaust_row(row, code=code, message=message)
            return StageState.EXHAUSTED
        fail_row(row, stage, code=code, message=message, retryable=retryable)
    return StageState.FAILED


def release_claim(claim: Claim, *, reason_code: str, waits: bool = True) -> None:
    """Give a claimed row back: its work could not be done now. The attempt is not counted.

    Where it ``waits`` for something the row keeps what that is (``reason_code``: ``budget``, ``provider_paused``);
    otherwise it is simply in line again, as when its worker was told to stop.
    """
    stage = get_stage(claim.stage)
    with writer():
        row = _get_fenced(claim)
        call_quietly(lambda: stage.record_cancellation(claim), of=stage.name)
        record_ending(row, stage, outcome="waits" if waits else "released", error=(reason_code, ""))
        waits_for = reason_code if waits else ""
        reset_row(row, reason_code=reason_code, attempts=max(0, row.attempts - 1), waits_for=waits_for)


def release_row(row: JobStageState) -> None:
    """Take a held row from an owner that cannot be found, inside ``writer()``: a result committed since its claim is
    accepted, else the row waits again, its attempts kept and the old lease void."""
    stage = get_stage(row.stage)
    if row.state == StageState.RUNNING:
        if stage.find_result_version(row.job_id) > row.baseline_version:
            succeed_row(row, stage, stage.settle_found(row.job_id), reused=True)
            return
        _close_attempt(row, stage, code="OWNER_LOST", retryable=True)
        record_ending(row, stage, outcome="released", error=("OWNER_LOST", OWNER_LOST_MESSAGE))
    reset_row(row, reason_code="owner_recovered")


def settle_canceled(claim: Claim) -> None:
    """End a claimed row whose run was canceled; a late publish of it is refused from then on."""
    with writer():
        row, stage = _get_fenced(claim), get_stage(claim.stage)
        call_quietly(lambda: stage.record_cancellation(claim), of=claim.stage)
        record_ending(row, stage, outcome="canceled", error=CANCELED)
        cancel_row(row, reason_code="workflow_canceled")
        settle_dependents(row.job_id, StageName(row.stage), StageState.CANCELED)


def note_lost_lease(claim: Claim, *, duration_ms: int) -> None:
    """The metric of an attempt that came back to a row that is not its own any more; nothing else is written."""
    stage, lost = get_stage(claim.stage), LeaseLost()
    with writer():
        record_attempt(
            stage=claim.stage,
            attempt_kind="stage",
            attempt=claim.attempt,
            outcome="lease_lost",
            duration_ms=duration_ms,
            error_class=lost.code,
            error_message=lost.message,
            run_id=claim.owner.run_id,
            job_id=claim.job_id,
            job_url=find_job_url(stage, claim.job_id),
        )
