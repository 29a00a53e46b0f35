"""How much waits for a worker in this workspace's task queue, as Temporal estimates it."""

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings

from operations.errors import WorkerUnavailable
from operations.temporal import call_temporal
from operations.temporal_probe import TemporalState, temporal_probe
from operations.workspace import ensure_workspace

if TYPE_CHECKING:
    from temporalio.client import Client

ANSWER: Final = timedelta(seconds=1)


def read_backlog() -> dict[str, int]:
    """Tasks by kind, ``workflow`` and ``activity``; empty where Temporal does not say. Waits two seconds at most; not
    for a thread with a running loop."""
    if temporal_probe.read() is not TemporalState.REACHABLE:
        return {}
    queue = ensure_workspace().task_queue
    try:
        return call_temporal(lambda client: _ask(client, queue), timeout=ANSWER)
    except WorkerUnavailable:
        return {}


async def _ask(client: "Client", queue: str) -> dict[str, int]:
    from temporalio.api.enums.v1 import TaskQueueType
    from temporalio.api.taskqueue.v1 import TaskQueue
    from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
    from temporalio.service import RPCError

    found: dict[str, int] = {}
    kinds = {
        "workflow": TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        "activity": TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    }
    for kind, wanted in kinds.items():
        request = DescribeTaskQueueRequest(
            namespace=settings.TEMPORAL_NAMESPACE,
            task_queue=TaskQueue(name=queue),
            task_queue_type=wanted,
            report_stats=True,
        )
        try:
            answer = await client.workflow_service.describe_task_queue(request, timeout=ANSWER)
        except RPCError:
            continue
        if answer.HasField("stats"):
            found[kind] = answer.stats.approximate_backlog_count
    return found
