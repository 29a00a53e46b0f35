"""One job through one stage, start to end, as an activity does it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from operations.contracts import ExecutionRef, StageName, StageReport, StageState
from operations.errors import LeaseLost, OperationsError, StageCanceled
from operations.log_lines import working_on
from operations.stage_engine.declaration import Claim, Owner, Refusal, get_stage
from operations.stage_engine.lifecycle import claim_stage, publish_stage, settle_canceled, settle_failure

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StageContext:
    """Who works, for which profile and execution, and how to learn that the work was canceled."""

    owner: Owner
    profile_version: int
    execution_ref: ExecutionRef | None = None
    is_cancelled: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class WorkResult:
    """``retryable`` says whether the same work may be tried again at once."""

    report: StageReport
    retryable: bool = False
    message: str = ""


def work_job(job_id: UUID, stage_name: StageName, context: StageContext) -> WorkResult:
    """Claim, run, publish, settle. Never raises for what one job does: its report says how it ended."""
    with working_on(job_id):
        return _work_job(job_id, stage_name, context)


def _work_job(job_id: UUID, stage_name: StageName, context: StageContext) -> WorkResult:
    claim = claim_stage(
        job_id,
        stage_name,
        owner=context.owner,
        profile_version=context.profile_version,
        execution_ref=context.execution_ref,
    )
    if isinstance(claim, Refusal):
        reused = claim.state == StageState.SUCCEEDED
        return WorkResult(StageReport(str(job_id), stage_name, claim.state, "" if reused else claim.code, reused))
    try:
        return _run(claim, context)
    except LeaseLost as lost:
        return WorkResult(StageReport(str(job_id), stage_name, StageState.SKIPPED, lost.code))


def _run(claim: Claim, context: StageContext) -> WorkResult:
    job_id, stage = str(claim.job_id), get_stage(claim.stage)
    try:
        result = stage.run(claim, is_cancelled=context.is_cancelled)
        if context.is_cancelled():
            raise StageCanceled
        publish_stage(claim, result)
    except LeaseLost:
        raise
    except StageCanceled as canceled:
        settle_canceled(claim)
        return WorkResult(StageReport(job_id, claim.stage, StageState.CANCELED, canceled.code))
    except OperationsError as failure:
        return _fail(claim, code=str(failure.code), message=failure.message, retryable=failure.retryable)
    except Exception as error:
        # Its text may quote the posting or the profile, so only its type is kept.
        log.error("%s of job %s raised %s", claim.stage, job_id, type(error).__name__, exc_info=_is_debugging())
        message = f"An unexpected {type(error).__name__} in this stage; the worker's log has the job id."
        return _fail(claim, code="INTERNAL_ERROR", message=message, retryable=True)
    return WorkResult(StageReport(job_id, claim.stage, StageState.SUCCEEDED))


def _fail(claim: Claim, *, code: str, message: str, retryable: bool) -> WorkResult:
    state = settle_failure(claim, code=code, message=message, retryable=retryable)
    report = StageReport(str(claim.job_id), claim.stage, state, code)
    return WorkResult(report, retryable and state is StageState.FAILED, message)


def _is_debugging() -> bool:
    return log.isEnabledFor(logging.DEBUG)
