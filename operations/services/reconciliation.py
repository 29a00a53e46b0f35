"""Asking Temporal about every run that our records call open, and about every end that we only assumed.

One exact question a run: its workflow ID and its run ID. A later run that reuses the workflow ID is
never taken for it. Where Temporal cannot be asked, nothing is concluded.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from django.utils import timezone

from operations import queries
from operations.contracts import RunStatus, WorkflowOutcome
from operations.errors import WorkerUnavailable
from operations.services.pending import SeenActivity, read_pending, record_pending
from operations.services.runs import record_not_found, record_outcome, record_recovered
from operations.temporal import call_temporal

if TYPE_CHECKING:
    from temporalio.client import Client, WorkflowHandle

ASKED_AT_ONCE = 20
MOST_RUNS = 500
RPC_TIMEOUT = timedelta(seconds=10)
RECONCILED = "reconciled"


class Found(StrEnum):
    """What Temporal says of one exact run."""

    RUNNING = "running"
    CLOSED = "closed"
    NOT_FOUND = "not_found"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Description:
    """``status`` and ``error_code`` are set where the run is closed."""

    found: Found
    status: RunStatus | None = None
    error_code: str = ""
    next_run_id: str = ""
    pending: tuple[SeenActivity, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What one description asks of our records; pure."""

    undo_end: bool = False
    end_as: RunStatus | None = None
    assume_end: bool = False


def plan_run(run: queries.OpenRun, found: Description) -> Plan:
    """A run that is running stays open; a closed one gets its real end; a missing one a provisional end, once."""
    match found.found:
        case Found.RUNNING:
            return Plan(undo_end=run.provisional)
        case Found.CLOSED:
            return Plan(undo_end=run.provisional, end_as=found.status)
        case Found.NOT_FOUND:
            return Plan(assume_end=not run.provisional)
    return Plan()


def reconcile_runs() -> int:
    """Bring every open and every provisionally ended run up to date; returns the number of runs changed."""
    runs = queries.list_unsettled_runs(limit=MOST_RUNS)
    if not runs:
        return 0
    asked_at = timezone.now()
    try:
        found = call_temporal(lambda client: describe_runs(client, runs))
    except WorkerUnavailable:
        return 0
    changed = sum(_apply(run, description) for run, description in zip(runs, found, strict=True))
    going_on = {
        run.run_id: description.pending
        for run, description in zip(runs, found, strict=True)
        if description.found is Found.RUNNING
    }
    record_pending(going_on, observed_at=asked_at)
    return changed


def _apply(run: queries.OpenRun, found: Description) -> bool:
    plan = plan_run(run, found)
    changed = False
    if plan.undo_end:
        changed = record_recovered(run.run_id, run.workflow_id, run.workflow_type, episode=run.episode)
    if plan.assume_end:
        changed = record_not_found(run.run_id, run.workflow_id, run.workflow_type, episode=run.episode + 1)
    if plan.end_as is not None:
        outcome = WorkflowOutcome(
            run.workflow_id,
            run.run_id,
            run.workflow_type,
            plan.end_as,
            error_code=found.error_code,
            reason_code="continued_as_new" if found.next_run_id else RECONCILED,
            next_run_id=found.next_run_id,
        )
        changed = record_outcome(outcome) or changed
    return changed


async def describe_runs(client: "Client", runs: Sequence[queries.OpenRun]) -> list[Description]:
    gate = asyncio.Semaphore(ASKED_AT_ONCE)

    async def describe(run: queries.OpenRun) -> Description:
        async with gate:
            return await describe_run(client.get_workflow_handle(run.workflow_id, run_id=run.run_id))

    return list(await asyncio.gather(*(describe(run) for run in runs)))


async def describe_run(handle: "WorkflowHandle[object, object]") -> Description:
    from temporalio.client import WorkflowExecutionStatus as Status
    from temporalio.service import RPCError, RPCStatusCode

    try:
        description = await handle.describe(rpc_timeout=RPC_TIMEOUT)
    except RPCError as error:
        missing = error.status is RPCStatusCode.NOT_FOUND
        return Description(Found.NOT_FOUND if missing else Found.UNKNOWN)
    match description.status:
        case Status.RUNNING:
            return Description(Found.RUNNING, pending=read_pending(description.raw_description.pending_activities))
        case Status.COMPLETED:
            return Description(Found.CLOSED, RunStatus.SUCCEEDED)
        case Status.CANCELED:
            return Description(Found.CLOSED, RunStatus.CANCELED)
        case Status.TERMINATED:
            return Description(Found.CLOSED, RunStatus.TERMINATED)
        case Status.TIMED_OUT:
            return Description(Found.CLOSED, RunStatus.TIMED_OUT)
        case Status.CONTINUED_AS_NEW:
            try:
                next_run_id = await read_next_run_id(handle)
            except RPCError:
                return Description(Found.UNKNOWN)
            return Description(Found.CLOSED, RunStatus.SUCCEEDED, next_run_id=next_run_id)
        case Status.FAILED:
            return Description(Found.CLOSED, RunStatus.FAILED, await read_error_code(handle))
    return Description(Found.UNKNOWN)


async def read_error_code(handle: "WorkflowHandle[object, object]") -> str:
    """The type of the failure that a closed run ended with."""
    from temporalio.client import WorkflowFailureError
    from temporalio.exceptions import ApplicationError

    try:
        await handle.result(follow_runs=False)
    except WorkflowFailureError as failure:
        cause = failure.cause
        return (cause.type if isinstance(cause, ApplicationError) else None) or "internal"
    except Exception:
        return "internal"
    return "internal"


async def read_next_run_id(handle: "WorkflowHandle[object, object]") -> str:
    """The run that a continued one went on as, from its last event; "" where it is not there."""
    async for event in handle.fetch_history_events(page_size=100):
        if event.HasField("workflow_execution_continued_as_new_event_attributes"):
            return event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return ""
