"""A worker's start on an existing workspace: imports, boot to accepting work, memory at idle."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.benchmarks.figures import Figure, at_most
from tests.benchmarks.workers import running_worker, serving_temporal
from tests.run import ROOT

IMPORTS = (
    "import django; django.setup(); import operations.worker.runtime; "
    "from operations.registration import collect_activities, collect_workflows; "
    "collect_activities(); collect_workflows()"
)
BOOTS = 3
SETTLE_SECONDS = 2.0


def measure(jobs: int) -> Iterator[Figure]:
    imports = statistics.median(time_imports() for _ in range(BOOTS))
    yield at_most("worker imports up to connecting", imports, "s", 1.5)
    boots, memory = [], []
    with serving_temporal() as address:
        for _ in range(BOOTS):
            forget_workers()
            with running_worker(address) as worker:
                boots.append(worker.boot_seconds)
                time.sleep(SETTLE_SECONDS)
                memory.append(worker.read_memory())
    yield at_most("worker boot to accepting work", statistics.median(boots), "s", 3)
    yield at_most("worker memory at idle", statistics.median(memory), "MB", 180)


def time_imports() -> float:
    """Seconds of a whole Python process that imports what the worker imports before it connects."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, env=os.environ, check=True, capture_output=True)
    return time.perf_counter() - started


def forget_workers() -> None:
    from operations.models import WorkerRuntimeHeartbeat

    WorkerRuntimeHeartbeat.objects.all().delete()
