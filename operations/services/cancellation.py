"""Asking a run to stop: Temporal accepts first, the intent is recorded after. Repeating it is safe."""

import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from uuid import UUID

from operations import queries
from operations.contracts import StageName, StageState
from operations.ended_runs import list_ended_runs
from operations.errors import OperationsError, WorkerUnavailable
from operations.models import JobStageState
from operations.services.runs import record_cancel_intent
from operations.services.stages import ResetReport, find_rows, reset_stages
from operations.temporal import call_temporal

if TYPE_CHECKING:
    from temporalio.client import Client


HELD = (StageState.RUNNING, StageState.QUEUED)
END_SECONDS = 10.0
LOOK_SECONDS = 0.2
#: The outcome of a run that was asked to stop.
ASKED: Final = ""


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


def cancel_runs(run_ids: Sequence[str], *, requester: str = "") -> dict[str, str]:
    """``ASKED`` or the code of its refusal for each run. Once Temporal is gone the others are not tried.

    Raises ``WorkerUnavailable`` where it is gone before any run was asked.
    """
    outcomes: dict[str, str] = {}
    for run_id in dict.fromkeys(run_ids):
        try:
            cancel_run(run_id, requester=requester)
        except (NotCancelable, RunUnknown) as refusal:
            outcomes[run_id] = refusal.code
        except WorkerUnavailable as gone:
            if ASKED not in outcomes.values():
                raise
            return {run_id: outcomes.get(run_id, gone.code) for run_id in run_ids}
        else:
            outcomes[run_id] = ASKED
    return outcomes


def revoke_stages(stage: StageName, job_ids: Iterable[UUID], *, requester: str = "") -> ResetReport:
    """Cancel the exact runs that hold these rows, see them end, and only then put the rows back.

    Waits ``END_SECONDS`` in all, outside any transaction. Refused are ``NO_SUCH_ROW``, ``NOT_HELD``, ``OWNER_LOST``
    (nobody can be asked to stop), ``STILL_ENDING`` (asked, but not ended in time: repeat it) and ``RESULT_KEPT`` (it
    was done before it could be stopped). Raises ``WorkerUnavailable`` where Temporal cannot be asked, having reset
    nothing.
    """
    wanted = list(dict.fromkeys(job_ids))
    found = find_rows(stage, wanted)
    owners = {row.owner_run_id for row in found.values() if row.state in HELD}
    lost = {run_id for run_id in owners if not _ask_to_stop(run_id, requester=requester)}
    ended = wait_for_ends(owners - lost, seconds=END_SECONDS)
    left = find_rows(stage, wanted)
    refused = {job_id: _refuse(found.get(job_id), left.get(job_id), lost, ended) for job_id in wanted}
    report = reset_stages(stage, [job_id for job_id in wanted if not refused[job_id]], reason_code="revoked")
    refused |= report.refused
    done = [job_id for job_id in wanted if refused[job_id] in ("", "ALREADY_PENDING")]
    return ResetReport(tuple(done), {job_id: code for job_id, code in refused.items() if job_id not in done})


def _ask_to_stop(run_id: str, *, requester: str) -> bool:
    """False where our records do not know the run, or only assume its end: then there is nobody to ask."""
    run = queries.find_run_row(run_id)
    if run is None or run.provisional:
        return bool(list_ended_runs([run_id]))
    with suppress(NotCancelable):  # it has ended, or its end is about to be recorded
        cancel_run(run_id, requester=requester)
    return True


def wait_for_ends(run_ids: Collection[str], *, seconds: float) -> set[str]:
    """Those of the runs whose end is recorded by then."""
    deadline = time.monotonic() + seconds
    while True:
        ended = list_ended_runs(list(run_ids))
        if len(ended) == len(run_ids) or time.monotonic() >= deadline:
            return ended
        time.sleep(LOOK_SECONDS)


def _refuse(
    found: JobStageState | None, left: JobStageState | None, lost: Collection[str], ended: Collection[str]
) -> str:
    """Why a row is not put back, as it was found and as its run left it; "" where it may be."""
    if found is None or left is None:
        return "NO_SUCH_ROW"
    if found.state not in HELD:  # asked for again once the run has ended: that has canceled the row
        return "" if found.state == StageState.CANCELED else "NOT_HELD"
    if found.owner_run_id in lost:
        return "OWNER_LOST"
    if found.owner_run_id not in ended:
        return "STILL_ENDING"
    return "RESULT_KEPT" if left.state == StageState.SUCCEEDED else ""
