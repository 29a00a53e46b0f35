"""A worker's heartbeat when there is nothing to do: its row, then every reconciler."""

from collections.abc import Iterator

from django.conf import settings

from operations.reconciling import run_reconcilers
from operations.worker.heartbeat import WorkerHeartbeat
from operations.worker.interceptor import SlotCounter
from operations.workspace import ensure_workspace
from tests.benchmarks.figures import Figure, at_most, compute_percentile, measure_times


def measure(jobs: int) -> Iterator[Figure]:
    settings.JOBCTRL_HOME.create()
    heartbeat = WorkerHeartbeat(ensure_workspace(), SlotCounter(), total_slots=4)

    def beat() -> None:
        heartbeat.beat()
        run_reconcilers(startup=False)

    times = measure_times(beat, repeats=100)
    yield at_most("heartbeat with nothing to do, p50", compute_percentile(times, 50), "ms", 30)
    yield at_most("heartbeat with nothing to do, p95", compute_percentile(times, 95), "ms")
