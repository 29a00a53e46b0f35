"""What our records say of each run, beside what Temporal itself says."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import partial

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from operations.contracts import HEARTBEAT_SECONDS
from tests.worker.workspace import OPEN, Workspace

#: Beyond the heartbeat: asking about every run, writing the answers, and a machine that is busy with the tests.
ALLOWANCE_SECONDS = 10.0
AGREE_SECONDS = HEARTBEAT_SECONDS + ALLOWANCE_SECONDS
NOT_FOUND = "not found"
STATUS_OF = {
    WorkflowExecutionStatus.COMPLETED: "succeeded",
    WorkflowExecutionStatus.CONTINUED_AS_NEW: "succeeded",
    WorkflowExecutionStatus.FAILED: "failed",
    WorkflowExecutionStatus.CANCELED: "canceled",
    WorkflowExecutionStatus.TERMINATED: "terminated",
    WorkflowExecutionStatus.TIMED_OUT: "timed_out",
}


def find_disagreements(workspace: Workspace, *, seconds: float = AGREE_SECONDS) -> list[str]:
    """Runs of which our state and Temporal's differ now and at every look for so long; one agreement clears a run.

    A run that Temporal goes on with and that we do not list at all is one of them.
    """
    deadline = time.monotonic() + seconds
    wrong = compare(workspace)
    while wrong and time.monotonic() < deadline:
        time.sleep(0.5)
        now = compare(workspace)
        wrong = {run_id: now[run_id] for run_id in wrong if run_id in now}
    return sorted(wrong.values())


def compare(workspace: Workspace) -> dict[str, str]:
    """run id -> how the two differ, at this moment."""
    before = read_ours(workspace)
    temporals = workspace.call_temporal(partial(read_temporals, runs=[(w, r) for r, (w, _) in before.items()]))
    ours = read_ours(workspace)
    wrong = {
        run_id: f"{workflow_id} ({run_id}) is {status} here and {temporals[run_id]} in Temporal"
        for run_id, (workflow_id, status) in ours.items()
        if run_id in temporals and not agree(status, temporals[run_id])
    }
    unlisted = {run_id for run_id, status in temporals.items() if run_id not in ours and status == "open"}
    return wrong | {run_id: f"run {run_id} goes on in Temporal and is not listed here" for run_id in unlisted}


def agree(ours: str, temporals: str) -> bool:
    return ours in OPEN if temporals == "open" else ours == temporals


def read_ours(workspace: Workspace) -> dict[str, tuple[str, str]]:
    """run id -> (workflow id, status); a provisional end is called so."""
    rows = workspace.query("SELECT run_id, workflow_id, status, provisional FROM workflow_run_projections")
    return {run_id: (workflow_id, NOT_FOUND if assumed else status) for run_id, workflow_id, status, assumed in rows}


async def read_temporals(client: Client, *, runs: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """run id -> status or ``open``, of these runs and of every other that Temporal has open."""

    async def read(workflow_id: str, run_id: str) -> tuple[str, str]:
        try:
            status = (await client.get_workflow_handle(workflow_id, run_id=run_id).describe()).status
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return run_id, NOT_FOUND
        return run_id, STATUS_OF.get(status, "open") if status is not None else "unknown"

    found = dict(await asyncio.gather(*(read(*run) for run in runs)))
    async for execution in client.list_workflows("ExecutionStatus = 'Running'"):
        found.setdefault(execution.run_id, "open")
    return found
