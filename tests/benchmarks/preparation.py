"""Jobs prepared a second by one worker with the built-in engine, beside the bare SDK with activities that do nothing."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from uuid import UUID

from django.conf import settings

from operations.contracts import PreparationInput, StageName
from operations.models import WorkflowRunProjection
from operations.services.starts import StartRequest, start_workflows
from operations.settings_store import change_settings
from operations.workspace import ensure_workspace
from tests.benchmarks.append import list_waiting_jobs
from tests.benchmarks.figures import Figure, at_least
from tests.benchmarks.workers import RunningWorker, running_worker, serving_temporal, spawn, wait_for

WARM_UP = 10
ROUNDS = 5
JOBS = 50
FANOUT = 25
POLL_SECONDS = 0.1  # asking our database costs the worker's processors something; the bare side only looks at a file
STEPS = (StageName.SCORE, StageName.TAILOR, StageName.COVER)  # all but the PDF


def measure(jobs: int) -> Iterator[Figure]:
    """Both workers are up all the time and work in turns: a machine is never equally fast for a minute."""
    change_settings({"min_fit_score": 1}, actor="benchmark")
    waiting = list_waiting_jobs()[: WARM_UP + ROUNDS * JOBS]
    with serving_temporal() as address, running_bare(address) as bare, running_worker(address) as ours:
        bare.prepare(range(WARM_UP))
        prepare_ours(waiting[:WARM_UP], ours)
        rates: list[tuple[float, float]] = []
        for start in range(WARM_UP, len(waiting), JOBS):
            part = waiting[start : start + JOBS]
            rates.append((bare.prepare(range(start, start + len(part))), prepare_ours(part, ours)))
        check_prepared(waiting)
    bare_rate, our_rate = (median(side) for side in zip(*rates, strict=True))
    yield at_least("bare SDK, same activity shape", bare_rate, "workflows/s")
    yield replace(
        at_least("jobs prepared, one worker, without PDF", our_rate, "jobs/s", bare_rate / 2),
        note=f"target: half of the bare SDK; {ROUNDS} rounds of {JOBS} in turns, medians",
    )
    yield at_least("jobs prepared against the bare SDK", median(ours / bare for bare, ours in rates), "x", 0.5)


@dataclass(frozen=True, slots=True)
class BareWorker:
    address: str
    done: Path
    process: subprocess.Popen[bytes]

    def prepare(self, numbers: range) -> float:
        """Workflows a second."""
        wanted = self.done.stat().st_size + len(numbers)
        started = time.perf_counter()
        for start in range(numbers.start, numbers.stop, FANOUT):
            asyncio.run(start_bare(self.address, range(start, min(start + FANOUT, numbers.stop))))
        wait_for(lambda: self.done.stat().st_size >= wanted, self.process, seconds=120)
        return len(numbers) / (time.perf_counter() - started)


@contextmanager
def running_bare(address: str) -> Iterator[BareWorker]:
    with tempfile.TemporaryDirectory(prefix="jobctrl-bench-bare-") as folder:
        done = Path(folder) / "done"
        done.touch()
        environment = {**os.environ, "BENCH_DONE_FILE": str(done)}
        with spawn([sys.executable, "-m", "tests.benchmarks.bare_worker", address], environment) as process:
            yield BareWorker(address, done, process)


async def start_bare(address: str, numbers: range) -> None:
    from temporalio.client import Client

    from tests.benchmarks.bare_workflow import QUEUE, BareInput

    client = await Client.connect(address)
    await asyncio.gather(
        *(
            client.start_workflow(
                "BareWorkflow", BareInput(f"job-{number}", tuple(STEPS)), id=f"bare-{number}", task_queue=QUEUE
            )
            for number in numbers
        )
    )


def prepare_ours(job_ids: list[UUID], worker: RunningWorker) -> float:
    """Jobs a second."""
    started = time.perf_counter()
    for start in range(0, len(job_ids), FANOUT):
        start_workflows([build_request(job_id) for job_id in job_ids[start : start + FANOUT]])
    wait_for(lambda: count_ended(job_ids) >= len(job_ids), worker.process, seconds=120, poll_seconds=POLL_SECONDS)
    return len(job_ids) / (time.perf_counter() - started)


def build_request(job_id: UUID) -> StartRequest:
    given = PreparationInput(
        str(job_id), f"bench-{job_id}", 1, ensure_workspace().identity, tuple(STEPS), settings.TENANT_ID
    )
    return StartRequest(
        "JobPreparationWorkflow",
        f"prep-bench-{job_id}",
        given,
        {"jobId": str(job_id), "steps": ",".join(STEPS), "kind": "prepare"},
    )


def count_ended(job_ids: list[UUID]) -> int:
    rows = WorkflowRunProjection.objects.filter(job_id__in=job_ids, workflow_id__startswith="prep-bench-")
    return rows.filter(ended_at__isnull=False).count()


def check_prepared(job_ids: list[UUID]) -> None:
    """Every job has its letter; a figure of work that failed would be worth nothing."""
    from materials.models import CoverLetter

    found = CoverLetter.objects.filter(job_id__in=job_ids).count()
    if found != len(job_ids):
        raise RuntimeError(f"only {found} of {len(job_ids)} jobs were prepared")
