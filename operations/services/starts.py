"""Starting workflows: deterministic IDs, accepted by Temporal first, recorded as dispatched after."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from django.utils import timezone

from operations import queries
from operations.contracts import PipelineInput, StageName, WorkflowStart
from operations.database import writer
from operations.errors import OperationsError, WorkerUnavailable
from operations.models import StartReceipt
from operations.services.runs import record_dispatched
from operations.stage_engine.rows import renew_pending
from operations.temporal import call_temporal
from operations.workspace import ensure_workspace

if TYPE_CHECKING:
    from temporalio.client import Client

READY_TIMEOUT = timedelta(seconds=3)
START_IS_REPEATED = (
    "Temporal was lost while the run was being started. It will be started under this ID as soon as Temporal answers."
)
RUN_NAMESPACE = uuid5(NAMESPACE_URL, "jobctrl:run")


class KeyReused(OperationsError):
    """This Idempotency-Key was used for another request, so nothing was started. Reload the page, or send a new key."""

    code = "conflict"


@dataclass(frozen=True, slots=True)
class StartRequest:
    """One workflow to start. ``retry_failed`` lets a failed or canceled former run be followed by a new one, ``once``
    none at all: its ID is made from an idempotency key."""

    workflow_type: str
    workflow_id: str
    argument: Any
    summary: dict[str, str]
    retry_failed: bool = False
    once: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """``existing`` = a run under that ID was already there and nothing was started. ``run_id`` is "" while Temporal has
    not accepted a start that was promised: it is repeated under the same ID."""

    workflow_id: str
    run_id: str
    existing: bool

    @property
    def note(self) -> str:
        return "" if self.run_id else START_IS_REPEATED


def check_worker_ready() -> None:
    """Raise ``WorkerUnavailable`` unless a heartbeat is fresh and Temporal answers; called before any state changes."""
    if queries.find_fresh_worker() is None:
        raise WorkerUnavailable("No worker is running. Start everything with: manage.py up")

    async def ask(client: "Client") -> bool:
        from temporalio.service import RPCError

        try:
            return await client.service_client.check_health(timeout=READY_TIMEOUT)
        except RPCError:
            return False

    if not call_temporal(ask):
        raise WorkerUnavailable("Temporal does not answer. Start everything with: manage.py up")


def find_receipt(idempotency_key: str, *, asked: str) -> Started | None:
    """What this key started before; ``None`` for "" and for a new one. ``asked`` says what is asked now.

    Raises ``KeyReused`` where it was something else.
    """
    if not idempotency_key:
        return None
    known = StartReceipt.objects.filter(key_hash=hash_text(idempotency_key)).first()
    if known is None:
        return None
    if known.asked_hash != hash_text(asked):
        raise KeyReused
    return Started(known.workflow_id, known.run_id, existing=True)


def start_workflow(request: StartRequest, *, idempotency_key: str = "", asked: str = "") -> Started:
    """Start one workflow. A repeated ``idempotency_key`` answers with the ids that it got the first time.

    ``asked`` says what was asked for under that key; raises ``KeyReused`` where that was something else.
    """
    if not idempotency_key:
        return start_workflows([request])[0]
    asked = asked or request.workflow_type
    if (known := find_receipt(idempotency_key, asked=asked)) is not None:
        return known
    started = start_workflows([request])[0]
    with writer():
        receipt, is_new = StartReceipt.objects.get_or_create(
            key_hash=hash_text(idempotency_key),
            defaults={
                "workflow_id": started.workflow_id,
                "run_id": started.run_id,
                "asked_hash": hash_text(asked),
                "created_at": timezone.now(),
            },
        )
    if is_new:
        return started
    if receipt.asked_hash != hash_text(asked):
        raise KeyReused  # of two sent at once, the other was first
    # The one that started the run need not be the one that wrote the receipt.
    existing = started.existing or started.run_id != receipt.run_id
    return Started(receipt.workflow_id, receipt.run_id, existing=existing)


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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

    reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE
    if request.once:
        reuse = WorkflowIDReusePolicy.REJECT_DUPLICATE
    elif request.retry_failed:
        reuse = WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY
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
    asked: str = "",
) -> Started:
    """Start one stage over chosen jobs or every eligible one. One idempotency key starts one run; ``asked`` as in
    ``start_workflow``."""
    asked = asked or describe_asked(stage, job_ids, limit)
    if (known := find_receipt(idempotency_key, asked=asked)) is not None:
        return known
    check_worker_ready()
    if job_ids is not None:
        with writer():
            renew_pending(StageName(stage), job_ids)
    start = build_pipeline_start(
        stage, profile_version=profile_version, job_ids=job_ids, limit=limit, idempotency_key=idempotency_key
    )
    return start_workflow(start, idempotency_key=idempotency_key, asked=asked)


def build_pipeline_start(
    stage: str,
    *,
    profile_version: int,
    job_ids: Sequence[UUID] | None = None,
    limit: int = 0,
    idempotency_key: str = "",
) -> StartRequest:
    """What starts one stage; its ID is the key's, or new."""
    run = uuid5(RUN_NAMESPACE, idempotency_key) if idempotency_key else uuid4()
    ids = None if job_ids is None else tuple(str(job_id) for job_id in job_ids)
    return StartRequest(
        "JobPipelineWorkflow",
        f"run-{run}",
        PipelineInput(stage, profile_version, ensure_workspace().identity, ids, limit),
        {"stage": stage, "jobs": "eligible" if ids is None else str(len(ids))},
        once=bool(idempotency_key),
    )


def describe_asked(stage: str, job_ids: Sequence[UUID] | None, limit: int = 0, *, action: str = "run") -> str:
    """One text for each different order, however its jobs are sorted."""
    jobs = "eligible" if job_ids is None else ",".join(sorted({job_id.hex for job_id in job_ids}))
    return f"{action} {stage} limit={limit} jobs={jobs}"
