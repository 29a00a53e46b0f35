"""The envelope of every workflow: started marker, work, and exactly one end on every path.

Imported by workflow code inside the sandbox: standard library, temporalio and contracts only.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from operations.contracts import (
        ErrorCode,
        ExecutionRef,
        RecordedEnd,
        RunStatus,
        SpendPreflight,
        WorkflowOutcome,
        WorkflowStart,
    )
    from operations.policies import CONTROL

T = TypeVar("T")

SPEND_PREFLIGHT = "spend-preflight"


class Ending:
    """What the body reports of its end beside its result: bounded facts for the Runs page.

    No dataclass: this module is read in anew for each workflow, and making one takes as long as all the rest of it.
    """

    __slots__ = ("facts", "failure")

    def __init__(self, facts: dict[str, str] | None = None, failure: ApplicationError | None = None) -> None:
        self.facts = facts or {}
        self.failure = failure


def read_execution_ref(tenant_id: str) -> ExecutionRef:
    info = workflow.info()
    return ExecutionRef(tenant_id, info.workflow_id, info.run_id)


async def run_enveloped(
    body: Callable[[], Awaitable[tuple[T, Ending]]],
    *,
    summary: dict[str, str],
    spends_in: tuple[str, ...] = (),
    job_id: str = "",
    job_ids: tuple[str, ...] = (),
) -> T:
    """Run a workflow's body between its two control writes; ``spends_in`` are its stages that may use models, of
    this one job, or of those chosen, if any.

    A plain exception becomes a non-retryable ``internal`` failure: left alone it would keep the
    workflow task retrying for ever. A nondeterminism error is not one of these and stays a task failure.
    A run that continues as new writes no end: its successor's start does, and ends it.

    The run ends as the log says, once it says so: where a cancellation arrives during the last write, Temporal refuses
    the end that follows and has the workflow task done again, now canceled in its body, whose result is lost with it.
    """
    info = workflow.info()
    begin = WorkflowStart(info.workflow_id, info.run_id, info.workflow_type, summary, info.continued_run_id or "")
    try:
        if await write_control("record_workflow_started", begin):
            raise asyncio.CancelledError
        if spends_in and await _check_budget(SpendPreflight(spends_in, job_id, job_ids)):
            raise asyncio.CancelledError
        result, ending = await body()
    except BaseException as error:
        if not isinstance(error, Exception | asyncio.CancelledError):
            raise  # ContinueAsNewError among them
        if is_cancelled_exception(error):
            earlier = await _record_end(RunStatus.CANCELED, reason_code="cancel_requested")
            if earlier is None:
                raise
            lost: T = _end_as_recorded(earlier)
            return lost
        failure = as_failure(error)
        await _record_end(RunStatus.FAILED, error_code=failure.type or ErrorCode.INTERNAL)
        raise failure from None
    if ending.failure is not None:
        await _record_end(RunStatus.FAILED, error_code=ending.failure.type or "", facts=ending.facts)
        raise ending.failure
    await _record_end(RunStatus.SUCCEEDED, facts=ending.facts)
    return result


def _end_as_recorded(earlier: RecordedEnd) -> Any:
    if earlier.status == RunStatus.FAILED:
        message = "This run had failed before it was asked to stop."
        raise ApplicationError(message, type=earlier.error_code, non_retryable=True) from None
    return None


async def _check_budget(preflight: SpendPreflight) -> bool:
    """The preflight of whatever may use models; runs from before it was there go on without. As ``write_control``."""
    return workflow.patched(SPEND_PREFLIGHT) and await write_control("check_spend_budget", preflight)


def as_failure(error: BaseException) -> ApplicationError:
    cause = error.cause if isinstance(error, ActivityError) else error
    if isinstance(cause, ApplicationError):
        return ApplicationError(cause.message, type=cause.type, non_retryable=True)
    if isinstance(cause, FailureError):
        return ApplicationError("An activity did not finish in time.", type="activity_timeout", non_retryable=True)
    return ApplicationError(f"The workflow raised {type(error).__name__}.", type=ErrorCode.INTERNAL, non_retryable=True)


async def _record_end(
    status: RunStatus, *, error_code: str = "", reason_code: str = "", facts: dict[str, str] | None = None
) -> RecordedEnd | None:
    """The run's end that was recorded earlier, if that was another: only a body's success or failure is."""
    info = workflow.info()
    outcome = WorkflowOutcome(
        info.workflow_id,
        info.run_id,
        info.workflow_type,
        status,
        error_code=error_code,
        reason_code=reason_code,
        result=facts or {},
    )
    # A cancellation that comes now is too late: what is recorded is also what Temporal says.
    answer, _ = await _write_through("record_workflow_outcome", outcome)
    if not isinstance(answer, dict) or answer["status"] not in (RunStatus.SUCCEEDED, RunStatus.FAILED):
        return None  # among them what older releases recorded, which had no answer
    return None if answer["status"] == status else RecordedEnd(answer["status"], answer["error_code"])


async def write_control(name: str, argument: object) -> bool:
    """Run one control write to its end, come what may; true where a cancellation came meanwhile.

    Left to itself the cancellation would end the run with the write still out, or never made.
    """
    _, canceled = await _write_through(name, argument)
    return canceled


async def _write_through(name: str, argument: object) -> tuple[object, bool]:
    writing = asyncio.ensure_future(workflow.execute_local_activity(name, argument, **CONTROL))
    canceled = False
    while not writing.done():
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            canceled = True
    return await writing, canceled


__all__ = ["CancelledError", "Ending", "as_failure", "read_execution_ref", "run_enveloped", "write_control"]
