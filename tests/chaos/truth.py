"""What our records say of each run, beside what Temporal itself says."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from operations.contracts import HEARTBEAT_SECONDS
from tests.worker.workspace import OPEN, Workspace

#: Beyond the heartbeat: asking about every run, writing the answers, and a machine that is busy with the tests.
ALLOWANCE_SECONDS = 10.0
AGREE_SECONDS = HEARTBEAT_SECONDS + ALLOWANCE_SECONDS
#: A worker's last write that is under way when Temporal terminates the run still commits.
WRITE_SECONDS = 2.0
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


@dataclass(frozen=True, slots=True)
class End:
    """A run's status, and when it ended: by our log or by Temporal."""

    status: str
    at: datetime | None = None


def compare(workspace: Workspace) -> dict[str, str]:
    """run id -> how the two differ, at this moment."""
    before = read_ours(workspace)
    temporals = workspace.call_temporal(partial(read_temporals, runs=[(w, r) for r, (w, _) in before.items()]))
    ours = read_ours(workspace)
    wrong = {
        run_id: f"{workflow_id} ({run_id}) is {end.status} here and {temporals[run_id].status} in Temporal"
        for run_id, (workflow_id, end) in ours.items()
        if run_id in temporals and not agree(end, temporals[run_id])
    }
    unlisted = {run_id for run_id, end in temporals.items() if run_id not in ours and end.status == "open"}
    return wrong | {run_id: f"run {run_id} goes on in Temporal and is not listed here" for run_id in unlisted}


def agree(ours: End, temporals: End) -> bool:
    """A termination after the run's own last write, and before Temporal knew of it, leaves the end that was recorded."""
    if temporals.status == "open":
        return ours.status in OPEN
    if temporals.status == "terminated" and ours.at is not None and temporals.at is not None:
        recorded_first = ours.at <= temporals.at + timedelta(seconds=WRITE_SECONDS)
        return ours.status == "terminated" or (ours.status not in (*OPEN, NOT_FOUND) and recorded_first)
    return ours.status == temporals.status


def read_ours(workspace: Workspace) -> dict[str, tuple[str, End]]:
    """run id -> (workflow id, end); a provisional end is called so."""
    rows = workspace.query("SELECT run_id, workflow_id, status, provisional, ended_at FROM workflow_run_projections")
    return {
        run_id: (workflow_id, End(NOT_FOUND if assumed else status, read_moment(ended_at)))
        for run_id, workflow_id, status, assumed, ended_at in rows
    }


def read_moment(value: str | datetime | None) -> datetime | None:
    """PostgreSQL gives a moment with its zone, SQLite a text in UTC without one."""
    if isinstance(value, str):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    return value


async def read_temporals(client: Client, *, runs: Sequence[tuple[str, str]]) -> Mapping[str, End]:
    """run id -> end, of these runs and of every other that Temporal has open."""

    async def read(workflow_id: str, run_id: str) -> tuple[str, End]:
        try:
            run = await client.get_workflow_handle(workflow_id, run_id=run_id).describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return run_id, End(NOT_FOUND)
        status = STATUS_OF.get(run.status, "open") if run.status is not None else "unknown"
        return run_id, End(status, run.close_time)

    found = dict(await asyncio.gather(*(read(*run) for run in runs)))
    async for execution in client.list_workflows("ExecutionStatus = 'Running'"):
        found.setdefault(execution.run_id, End("open"))
    return found
