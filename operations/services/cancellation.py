"""Asking a run to stop: Temporal accepts first, the intent is recorded after. Repeating it is safe."""

from typing import TYPE_CHECKING

from operations import queries
from operations.errors import OperationsError, WorkerUnavailable
from operations.services.runs import record_cancel_intent
from operations.temporal import call_temporal

if TYPE_CHECKING:
    from temporalio.client import Client


class NotCancelable(OperationsError):
    """The run has ended already, so there is nothing to cancel."""

    code = "not_cancelable"


class RunUnknown(OperationsError):
    """There is no such run."""

    code = "not_found"


def cancel_run(run_id: str, *, requester: str = "") -> queries.RunRow:
    """Request cancellation of one exact run. Cooperative and asynchronous: the run ends by itself.
    ``requester`` is the name that the audit keeps.

    Raises ``RunUnknown``, ``NotCancelable``, or ``WorkerUnavailable`` where Temporal cannot be asked.
    """
    run = queries.find_run(run_id)
    if run is None:
        raise RunUnknown
    if run.status not in queries.OPEN_STATES:
        raise NotCancelable
    workflow_id = run.workflow_id

    async def request(client: "Client") -> bool:
        from temporalio.service import RPCError, RPCStatusCode

        try:
            await client.get_workflow_handle(workflow_id, run_id=run_id).cancel()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise WorkerUnavailable("Temporal did not accept the request. Try again in a moment.") from error
        return True

    if not call_temporal(request):
        raise NotCancelable("Temporal knows this run no more or has ended it; its record is brought up to date soon.")
    record_cancel_intent(workflow_id, run_id, requester=requester)
    return run
