"""A worker's heartbeat: its row, then every reconciler; with nothing to do, and with many runs to ask Temporal about."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from temporalio.client import Client

from operations import temporal
from operations.contracts import PreparationInput, RunStatus, StageName, WorkflowOutcome
from operations.reconciling import run_reconcilers
from operations.services.runs import record_outcome
from operations.services.starts import Started, StartRequest, start_workflows
from operations.worker.heartbeat import WorkerHeartbeat
from operations.worker.interceptor import SlotCounter
from operations.workspace import ensure_workspace
from tests.benchmarks.append import list_waiting_jobs
from tests.benchmarks.figures import Figure, at_most, compute_percentile, measure_times
from tests.benchmarks.workers import serving_temporal

OPEN_RUNS = 200
FANOUT = 25
WORKFLOW = "JobPreparationWorkflow"


def measure(jobs: int) -> Iterator[Figure]:
    settings.JOBCTRL_HOME.create()
    heartbeat = WorkerHeartbeat(ensure_workspace(), SlotCounter(), total_slots=4)

    def beat() -> None:
        heartbeat.beat()
        run_reconcilers(startup=False)

    times = measure_times(beat, repeats=100)
    yield at_most("heartbeat with nothing to do, p50", compute_percentile(times, 50), "ms", 30)
    yield at_most("heartbeat with nothing to do, p95", compute_percentile(times, 95), "ms")
    with serving_temporal() as address, sharing_client(address):
        started = start_open_runs()
        times = measure_times(beat, repeats=20)
        check_open(len(started))
        end_runs(started)
    name = f"heartbeat with {len(started)} open runs described"
    yield at_most(f"{name}, p50", compute_percentile(times, 50), "ms")
    yield at_most(f"{name}, p95", compute_percentile(times, 95), "ms")


@contextmanager
def sharing_client(address: str) -> Iterator[None]:
    """One connection for every pass, as a worker has it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    client = asyncio.run_coroutine_threadsafe(Client.connect(address), loop).result(30)
    temporal.share_client(client, loop)
    try:
        yield
    finally:
        temporal._Shared.client = temporal._Shared.loop = None
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def start_open_runs() -> list[Started]:
    """Runs that no worker takes up, so they stay open."""
    identity = ensure_workspace().identity
    job_ids = [str(job_id) for job_id in list_waiting_jobs()[:1]] * OPEN_RUNS
    requests = [
        StartRequest(
            WORKFLOW,
            f"prep-open-{number}",
            PreparationInput(job_id, f"open-{number}", 1, identity, (StageName.SCORE,), settings.TENANT_ID),
            {"jobId": job_id, "kind": "prepare"},
        )
        for number, job_id in enumerate(job_ids)
    ]
    return [run for start in range(0, OPEN_RUNS, FANOUT) for run in start_workflows(requests[start : start + FANOUT])]


def check_open(wanted: int) -> None:
    """A pass that found the runs gone would have measured something else."""
    from operations.models import WorkflowRunProjection

    found = WorkflowRunProjection.objects.filter(
        status=RunStatus.STARTING, workflow_id__startswith="prep-open-"
    ).count()
    if found != wanted:
        raise RuntimeError(f"only {found} of {wanted} runs are open")


def end_runs(started: list[Started]) -> None:
    for run in started:
        record_outcome(WorkflowOutcome(run.workflow_id, run.run_id, WORKFLOW, RunStatus.TERMINATED))
