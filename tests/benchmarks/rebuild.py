"""Rebuilding every projection from the log: the fold alone, the whole command, and the memory it takes."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from django.db import connection, transaction

from operations.eventlog import read_head
from operations.eventlog.guards import lift_guards
from operations.folding import list_apps
from operations.folding.rebuild import Scratch, rebuild_projections, verify_projections
from operations.models import JobEventRow, ProjectionWatermark
from tests.benchmarks.figures import Figure, at_least, at_most


def measure(jobs: int) -> Iterator[Figure]:
    target = 30_000 if connection.vendor == "sqlite" else 20_000
    events = JobEventRow.objects.filter(typed=True).count()
    yield at_least("events in the log", events, "")
    rate = events / time_once(fold_to_scratch)
    yield at_least("rebuild, fold alone, seeder's order", rate, "events/s", target)
    yield at_least("verify_projections, whole", events / time_once(verify_projections), "events/s")
    empty_projections()
    yield at_least("rebuild from empty tables, whole", events / time_once(rebuild_projections), "events/s")
    yield at_most("rebuild, peak memory", read_peak_memory(), "MB", 250)
    interleave_log()
    rate = events / time_once(fold_to_scratch)
    yield at_least("rebuild, fold alone, fully interleaved log", rate, "events/s")
    rebuild_projections()


def time_once(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def fold_to_scratch() -> None:
    for app in list_apps():
        with Scratch(app) as scratch:
            scratch.fold_to(read_head(), progress=None)


def empty_projections() -> None:
    from operations.folding import list_tables

    with transaction.atomic(), connection.cursor() as cursor:
        for table in list_tables():
            cursor.execute(f"DELETE FROM {table.name}")


def interleave_log() -> None:
    """Write the log anew with the first event of every job, then every job's second, and so on."""
    columns = "tenant_id, event_type, version, typed, job_id, workflow_id, run_id, event_key, payload, recorded_at"
    with lift_guards(), transaction.atomic(), connection.cursor() as cursor:
        key = "COALESCE(CAST(job_id AS varchar(40)), run_id)"
        cursor.execute(
            f"CREATE TABLE bench_log AS SELECT {columns}, {key} AS owner, "
            f"ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY id) AS turn FROM job_events"
        )
        cursor.execute("DELETE FROM job_events")
        cursor.execute(f"INSERT INTO job_events ({columns}) SELECT {columns} FROM bench_log ORDER BY turn, owner")
        cursor.execute("DROP TABLE bench_log")
    ProjectionWatermark.objects.update(last_event_id=read_head())


def read_peak_memory() -> float:
    """Megabytes that this process held at most."""
    status = Path("/proc/self/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kilobytes) / 1024
