"""Discovery's job actions, and how a discovery run is started by hand."""

from collections.abc import Sequence
from uuid import UUID

from discovery.queries import get_newest_profile_version
from discovery.services.jobs import delete_jobs, restore_jobs, set_hidden
from discovery.services.starts import start_discovery
from operations.contracts import StageName
from operations.job_actions import ActionRequest, ActionResult, job_action
from operations.services.starts import Started
from operations.starters import StartOrder, profile_version_source, stage_starter

profile_version_source(get_newest_profile_version)


@stage_starter(StageName.DISCOVER)
def start_discover(order: StartOrder) -> Started:
    return start_discovery(idempotency_key=order.idempotency_key)


def _as_result(request: ActionRequest, changed: Sequence[UUID]) -> ActionResult:
    return ActionResult(changed, {job_id: "no_change" for job_id in request.job_ids if job_id not in changed})


@job_action("hide", label="Hide")
def hide(request: ActionRequest) -> ActionResult:
    return _as_result(request, set_hidden(request.job_ids, hidden=True))


@job_action("unhide", label="Unhide")
def unhide(request: ActionRequest) -> ActionResult:
    return _as_result(request, set_hidden(request.job_ids, hidden=False))


@job_action("delete", label="Delete", consequence="Its documents and its history are kept, and it can be restored.")
def delete(request: ActionRequest) -> ActionResult:
    return _as_result(request, delete_jobs(request.job_ids))


@job_action("restore", label="Restore")
def restore(request: ActionRequest) -> ActionResult:
    return _as_result(request, restore_jobs(request.job_ids))
