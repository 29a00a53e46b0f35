"""What Temporal says of exact runs, each asked by its workflow ID and its run ID."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from operations import queries
from operations.contracts import RunStatus
from operations.services.pending import SeenActivity, read_pending

if TYPE_CHECKING:
    from temporalio.client import Client, WorkflowHandle

log = logging.getLogger(__name__)

ASKED_AT_ONCE = 20
RPC_TIMEOUT = timedelta(seconds=10)


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
    cancel_requested: bool = False
    pending: tuple[SeenActivity, ...] = ()


async def describe_runs(client: "Client", runs: Sequence[queries.OpenRun]) -> list[Description]:
    """In the order of ``runs``. Nothing is missing where the namespace itself is not known: the question was wrong."""
    gate = asyncio.Semaphore(ASKED_AT_ONCE)

    async def describe(run: queries.OpenRun) -> Description:
        async with gate:
            try:
                return await describe_run(client.get_workflow_handle(run.workflow_id, run_id=run.run_id))
            except Exception as error:  # whatever one answer holds, the others' are read
                log.error("what Temporal says of run %s cannot be read: %s", run.run_id, type(error).__name__)
                return Description(Found.UNKNOWN)

    found = list(await asyncio.gather(*(describe(run) for run in runs)))
    kinds = {description.found for description in found}
    if Found.NOT_FOUND not in kinds or kinds & {Found.RUNNING, Found.CLOSED} or await knows_namespace(client):
        return found
    log.error("Temporal does not know the namespace %s; nothing is concluded about any run", client.namespace)
    return [Description(Found.UNKNOWN)] * len(found)


async def knows_namespace(client: "Client") -> bool:
    """False only where Temporal says that there is none of this name."""
    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
    from temporalio.service import RPCError, RPCStatusCode

    asked = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        await client.workflow_service.describe_namespace(asked, timeout=RPC_TIMEOUT)
    except RPCError as error:
        if error.status is RPCStatusCode.PERMISSION_DENIED:
            return True  # it answered for its runs, so it is there
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


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
            raw = description.raw_description
            return Description(
                Found.RUNNING,
                cancel_requested=raw.workflow_extended_info.cancel_requested,
                pending=read_pending(raw.pending_activities),
            )
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
