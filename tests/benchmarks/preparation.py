"""Jobs prepared a second by one worker with the built-in engine, beside the bare SDK with activities that do nothing."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from django.conf import settings

from operations.contracts import PreparationInput, StageName
from operations.models import WorkflowRunProjection
from operations.services.starts import StartRequest, start_workflows
from operations.settings_store import change_settings
from operations.workspace import ensure_workspace
from tests.benchmarks.append import list_waiting_jobs
from tests.benchmarks.figures import Figure, at_least
from tests.benchmarks.workers import running_worker, serving_temporal, spawn, wait_for

WARM_UP = 10
JOBS = 100
FANOUT = 25
POLL_SECONDS = 0.1  # asking our database costs the worker's processors something; the bare side only looks at a file
STEPS = (StageName.SCORE, StageName.TAILOR, StageName.COVER)  # all but the PDF


def measure(jobs: int) -> Iterator[Figure]:
    change_settings({"min_fit_score": 1}, actor="benchmark")
    with serving_temporal() as address:
        bare = measure_bare(address)
        ours = measure_ours(address)
    yield at_least("bare SDK, same activity shape", bare, "workflows/s")
    yield replace(
        at_least("jobs prepared, one worker, without PDF", ours, "jobs/s", bare / 2),
        note="target: half of the bare SDK",
    )
    yield at_least("jobs prepared against the bare SDK", ours / bare, "x", 0.5)


def measure_bare(address: str) -> float:
    with tempfile.TemporaryDirectory(prefix="jobctrl-bench-bare-") as folder:
        done = Path(folder) / "done"
        done.touch()
        environment = {**os.environ, "BENCH_DONE_FILE": str(done)}
        command = [sys.executable, "-m", "tests.benchmarks.bare_worker", address]
        with spawn(command, environment) as process:
            started = 0.0
            for first, count in ((0, WARM_UP), (WARM_UP, JOBS)):
                started = time.perf_counter()
                for start in range(first, first + count, FANOUT):
                    asyncio.run(start_bare(address, range(start, min(start + FANOUT, first + count))))
                wait_for(lambda wanted=first + count: done.stat().st_size >= wanted, process, seconds=120)  # type: ignore[misc]
            return JOBS / (time.perf_counter() - started)


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


def measure_ours(address: str) -> float:
    waiting = list_waiting_jobs()[: WARM_UP + JOBS]
    with running_worker(address) as worker:
        started = 0.0
        for part in (waiting[:WARM_UP], waiting[WARM_UP:]):
            started = time.perf_counter()
            for start in range(0, len(part), FANOUT):
                start_workflows([build_request(job_id) for job_id in part[start : start + FANOUT]])
            wait_for(
                lambda ids=part: count_ended(ids) >= len(ids),  # type: ignore[misc]
                worker.process,
                seconds=120,
                poll_seconds=POLL_SECONDS,
            )
        elapsed = time.perf_counter() - started
        check_prepared(waiting)
    return (len(waiting) - WARM_UP) / elapsed


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
