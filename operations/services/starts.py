"""Starting workflows: deterministic IDs, accepted by Temporal first, recorded as dispatched after."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from operations import queries
from operations.contracts import PipelineInput, WorkflowStart
from operations.errors import WorkerUnavailable
from operations.services.runs import record_dispatched
from operations.temporal import call_temporal
from operations.workspace import ensure_workspace

if TYPE_CHECKING:
    from temporalio.client import Client

RUN_NAMESPACE = uuid5(NAMESPACE_URL, "jobctrl:run")


@dataclass(frozen=True, slots=True)
class StartRequest:
    """One workflow to start. ``retry_failed`` lets a failed or canceled former run be followed by a new one."""

    workflow_type: str
    workflow_id: str
    argument: Any
    summary: dict[str, str]
    retry_failed: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """``existing`` = a run under that ID was already there and nothing was started."""

    workflow_id: str
    run_id: str
    existing: bool


def check_worker_ready() -> None:
    """Raise ``WorkerUnavailable`` unless a heartbeat is fresh; called before any state changes."""
    if queries.find_fresh_worker() is None:
        raise WorkerUnavailable("No worker is running. Start everything with: manage.py up")


def start_workflow(request: StartRequest) -> Started:
    return start_workflows([request])[0]


def start_workflows(requests: Sequence[StartRequest]) -> list[Started]:
    """Start several at once; results keep their order. A run already there is attached to, never doubled."""
    queue = ensure_workspace().task_queue

    async def start_all(client: "Client") -> list[tuple[str, bool]]:
        return list(await asyncio.gather(*(_start(client, request, queue) for request in requests)))

    started: list[Started] = []
    for request, (run_id, known) in zip(requests, call_temporal(start_all), strict=True):
        start = WorkflowStart(request.workflow_id, run_id, request.workflow_type, request.summary)
        fresh = False if known else record_dispatched(start)
        started.append(Started(request.workflow_id, run_id, existing=not fresh))
    return started


async def _start(client: "Client", request: StartRequest, queue: str) -> tuple[str, bool]:
    from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
    from temporalio.exceptions import WorkflowAlreadyStartedError

    reuse = (
        WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY
        if request.retry_failed
        else WorkflowIDReusePolicy.ALLOW_DUPLICATE
    )
    try:
        handle = await client.start_workflow(
            request.workflow_type,
            request.argument,
            id=request.workflow_id,
            task_queue=queue,
            id_reuse_policy=reuse,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
    except WorkflowAlreadyStartedError as closed:
        return closed.run_id or "", True
    return handle.first_execution_run_id or "", False


def start_pipeline(
    stage: str,
    *,
    profile_version: int,
    job_ids: Sequence[UUID] | None = None,
    limit: int = 0,
    idempotency_key: str = "",
) -> Started:
    """Start one stage over chosen jobs or every eligible one. One idempotency key starts one run."""
    check_worker_ready()
    run = uuid5(RUN_NAMESPACE, idempotency_key) if idempotency_key else uuid4()
    ids = None if job_ids is None else tuple(str(job_id) for job_id in job_ids)
    return start_workflow(
        StartRequest(
            "JobPipelineWorkflow",
            f"run-{run}",
            PipelineInput(stage, profile_version, ensure_workspace().identity, ids, limit),
            {"stage": stage, "jobs": "eligible" if ids is None else str(len(ids))},
        )
    )
