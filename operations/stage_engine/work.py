"""One job through one stage, start to end, as an activity does it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from time import monotonic
from uuid import UUID

from operations.contracts import LOST_OWNERSHIP, ExecutionRef, StageName, StageReport, StageState
from operations.database import OUTAGES
from operations.errors import LeaseLost, OperationsError, StageCanceled, WorkerStops
from operations.llm.calls import Caller, calling_as
from operations.llm.errors import WorkWaits
from operations.log_lines import note_places, working_on
from operations.stage_engine.declaration import Claim, Owner, Refusal, get_stage
from operations.stage_engine.lifecycle import (
    claim_stage,
    note_lost_lease,
    publish_stage,
    release_claim,
    settle_canceled,
    settle_failure,
)

log = logging.getLogger(__name__)

INTERNAL_ERROR = "INTERNAL_ERROR"


@dataclass(frozen=True, slots=True)
class StageContext:
    """Who works, for which profile and execution, and how to learn that the work was canceled.

    ``must_stop`` says that this worker may begin no further call to a model: what is unfinished is handed back.
    ``waits_for`` is the code of what the run has to wait for: nothing new is begun then.
    """

    owner: Owner
    profile_version: int
    execution_ref: ExecutionRef | None = None
    is_cancelled: Callable[[], bool] = lambda: False
    waits_for: str = ""
    must_stop: Callable[[], bool] = lambda: False

    def check_stop(self) -> None:
        """Raises ``StageCanceled`` or ``WorkerStops`` where nothing more may be begun."""
        if self.is_cancelled():
            raise StageCanceled
        if self.must_stop():
            raise WorkerStops


@dataclass(frozen=True, slots=True)
class WorkResult:
    """``retryable`` says whether the same work may be tried again at once, after ``retry_after`` if somebody asked for
    that; ``waits`` that it was not even begun, since the budget or the provider has to be waited for. Where that is the
    limit of one ``lane`` alone, what needs no model of it need not wait."""

    report: StageReport
    retryable: bool = False
    message: str = ""
    waits: bool = False
    lane: str = ""
    retry_after: timedelta | None = None


def work_job(job_id: UUID, stage_name: StageName, context: StageContext) -> WorkResult:
    """Claim, run, publish, settle. Never raises for what one job does: its report says how it ended."""
    with working_on(job_id):
        return _work_job(job_id, stage_name, context)


def _work_job(job_id: UUID, stage_name: StageName, context: StageContext) -> WorkResult:
    try:
        claim = claim_stage(
            job_id,
            stage_name,
            owner=context.owner,
            profile_version=context.profile_version,
            execution_ref=context.execution_ref,
            waits_for=context.waits_for,
        )
        return _report_refusal(job_id, stage_name, claim) if isinstance(claim, Refusal) else _run(claim, context)
    except LeaseLost as lost:
        return WorkResult(StageReport(str(job_id), stage_name, StageState.SKIPPED, lost.code))
    except OUTAGES:
        raise
    except Exception as error:  # asking for the row or settling it: the row is as it was, and its run's end settles it
        return _report_error(job_id, stage_name, error)


def _report_refusal(job_id: UUID, stage: StageName, refusal: Refusal) -> WorkResult:
    if refusal.code in LOST_OWNERSHIP:
        return WorkResult(StageReport(str(job_id), stage, StageState.SKIPPED, refusal.code))
    reused = refusal.state == StageState.SUCCEEDED
    return WorkResult(StageReport(str(job_id), stage, refusal.state, "" if reused else refusal.code, reused))


def _run(claim: Claim, context: StageContext) -> WorkResult:
    began = monotonic()
    try:
        return _run_and_settle(claim, context)
    except LeaseLost:
        note_lost_lease(claim, duration_ms=int((monotonic() - began) * 1000))
        raise


def _run_and_settle(claim: Claim, context: StageContext) -> WorkResult:
    job_id, stage = str(claim.job_id), get_stage(claim.stage)
    try:
        with calling_as(_describe_caller(claim, context)):
            result = stage.run(claim, is_cancelled=context.is_cancelled)
        if context.is_cancelled():
            raise StageCanceled
        publish_stage(claim, result)
    except LeaseLost:
        raise
    except StageCanceled as canceled:
        settle_canceled(claim)
        return WorkResult(StageReport(job_id, claim.stage, StageState.CANCELED, canceled.code))
    except WorkWaits as waits:
        release_claim(claim, reason_code=waits.reason)
        report = StageReport(job_id, claim.stage, StageState.PENDING, str(waits.code))
        return WorkResult(report, message=waits.message, waits=True, lane=waits.lane)
    except WorkerStops as stops:
        release_claim(claim, reason_code=str(stops.code), waits=False)
        report = StageReport(job_id, claim.stage, StageState.PENDING, str(stops.code))
        return WorkResult(report, retryable=True, message=stops.message)
    except OperationsError as failure:
        result = _fail(claim, code=str(failure.code), message=failure.message, retryable=failure.retryable)
        return replace(result, retry_after=failure.retry_after)
    except OUTAGES:
        raise
    except Exception as error:
        message = _note_unexpected(claim.job_id, claim.stage, error)
        return _fail(claim, code=INTERNAL_ERROR, message=message, retryable=True)
    return WorkResult(StageReport(job_id, claim.stage, StageState.SUCCEEDED))


def _describe_caller(claim: Claim, context: StageContext) -> Caller:
    owner = claim.owner
    return Caller(owner.workflow_id, owner.run_id, owner.attempt, claim.job_id, claim.stage, context.check_stop)


def _fail(claim: Claim, *, code: str, message: str, retryable: bool) -> WorkResult:
    state = settle_failure(claim, code=code, message=message, retryable=retryable)
    report = StageReport(str(claim.job_id), claim.stage, state, code)
    return WorkResult(report, retryable and state is StageState.FAILED, message)


def _report_error(job_id: UUID, stage: StageName, error: Exception) -> WorkResult:
    if isinstance(error, OperationsError):
        code, message, retryable = str(error.code), error.message, error.retryable
    else:
        code, message, retryable = INTERNAL_ERROR, _note_unexpected(job_id, stage, error), True
    return WorkResult(StageReport(str(job_id), stage, StageState.FAILED, code), retryable, message)


def _note_unexpected(job_id: UUID, stage: StageName, error: Exception) -> str:
    """Its text may quote the posting or the profile, so only its type is kept."""
    log.error("%s of job %s raised %s", stage, job_id, type(error).__name__)
    note_places(log, error)
    return f"An unexpected {type(error).__name__} in this stage; the worker's log has the job id."
