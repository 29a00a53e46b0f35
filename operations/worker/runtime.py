"""One worker process: checks, Temporal, startup reconciliation, then workflows and activities until told to stop."""

import asyncio
import logging
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.conf import settings
from django.db import connections
from temporalio.client import Client
from temporalio.worker import Interceptor, Worker

from operations.errors import WorkerUnavailable
from operations.eventlog.guards import refuse_unprotected_log
from operations.models import Workspace
from operations.policies import HEARTBEAT_TIMEOUT
from operations.processes.presence import WORKER, mark_presence
from operations.reconciling import run_reconcilers
from operations.registration import collect_activities, collect_workflows
from operations.settings_store import get_setting
from operations.temporal import connect, share_client
from operations.worker.draining import DrainWatch
from operations.worker.heartbeat import WorkerHeartbeat
from operations.worker.interceptor import EngineInterceptor, SlotCounter
from operations.worker.telemetry import build_tracing, serve_sdk_metrics
from operations.workspace import check_free_space, ensure_workspace, refuse_foreign_worker

log = logging.getLogger(__name__)

CONTROL_SLOTS = 2
CONNECT_SECONDS = 60
CONNECTION_SECONDS = 60
GRACE = timedelta(seconds=10)


def run_worker() -> None:
    """Run until SIGTERM or SIGINT. Raises before any work starts where the home or the disk is unusable."""
    keep_connections()
    serve_sdk_metrics()
    settings.JOBCTRL_HOME.create()
    check_free_space()
    refuse_unprotected_log()
    workspace = ensure_workspace()
    refuse_foreign_worker()
    mark_presence(settings.JOBCTRL_HOME.root, WORKER)
    slots = int(get_setting("worker_activity_slots"))
    asyncio.run(_serve(workspace, slots))


def keep_connections() -> None:
    """The worker's threads live long and each keeps its connection; the web's live for one request and do not."""
    for config in connections.databases.values():
        config["CONN_MAX_AGE"] = CONNECTION_SECONDS


async def _serve(workspace: Workspace, slots: int) -> None:
    client = await _connect_patiently()
    share_client(client, asyncio.get_running_loop())
    await asyncio.to_thread(_reconcile_first)
    counter = SlotCounter()
    heartbeat = WorkerHeartbeat(workspace, counter, total_slots=slots)
    executor = ThreadPoolExecutor(slots + CONTROL_SLOTS, thread_name_prefix="activity")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for received in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(received, stop.set)
    engine = EngineInterceptor(counter, beat_seconds=min(5.0, HEARTBEAT_TIMEOUT.total_seconds() / 4))
    tracing = build_tracing()
    watch = DrainWatch(heartbeat.worker_id, loop)
    await watch.start()
    await asyncio.to_thread(heartbeat.start)
    while not stop.is_set():
        if watch.released.is_set():
            async with _build_worker(client, workspace, [*tracing, engine], executor, slots=slots):
                log.info("worker ready on %s with %d slots", workspace.task_queue, slots)
                await _wait_for_any(stop, watch.asked)
                log.info("worker takes nothing new: finishing what runs, for at most %d s", GRACE.total_seconds())
        watch.is_idle = True
        await _wait_for_any(stop, watch.released)
        watch.is_idle = False
    await asyncio.to_thread(watch.stop)
    await asyncio.to_thread(heartbeat.stop)
    executor.shutdown(wait=False, cancel_futures=True)


def _reconcile_first() -> None:
    """With Temporal there and before any work is accepted. In a thread of its own: it waits for answers of the loop."""
    try:
        log.info("startup reconciliation: %s", run_reconcilers(startup=True))
    finally:
        connections.close_all()


def _build_worker(
    client: Client,
    workspace: Workspace,
    interceptors: Sequence[Interceptor],
    executor: ThreadPoolExecutor,
    *,
    slots: int,
) -> Worker:
    """A worker that was shut down cannot take work again: after a pause there is a new one."""
    return Worker(
        client,
        task_queue=workspace.task_queue,
        workflows=collect_workflows(),
        activities=collect_activities(),
        activity_executor=executor,
        max_concurrent_activities=slots,
        max_concurrent_local_activities=CONTROL_SLOTS,
        interceptors=interceptors,
        graceful_shutdown_timeout=GRACE,
        max_heartbeat_throttle_interval=timedelta(seconds=3),
        default_heartbeat_throttle_interval=timedelta(seconds=3),
    )


async def _wait_for_any(*events: asyncio.Event) -> None:
    waiting = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()


async def _connect_patiently() -> Client:
    """Temporal may still be starting; wait for it, then give up with the remedy."""
    deadline = asyncio.get_running_loop().time() + CONNECT_SECONDS
    while True:
        try:
            return await connect()
        except WorkerUnavailable:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(0.3)
