"""Appending one event with its stage write, projections current at the commit."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from uuid import UUID

from django.db import connection
from django.utils import timezone

from operations.contracts import StageName, StageState
from operations.database import writer
from operations.events import StageStarted
from operations.models import JobEventRow, JobStageState
from operations.stage_engine import Owner, claim_stage
from operations.stage_engine.rows import RowMove, get_row, move_rows, plan_reset
from operations.stage_engine.statements import list_rows_in_stage
from tests.benchmarks.figures import Figure, at_least, compute_percentile, measure_rate, measure_times

BATCH = 50
SECONDS = 2.5
CLAIMS = 250
OWNER = Owner("prep-bench", "bench-run")
STRIDE = 37  # so that neighbours in time are not neighbours in the table


def measure(jobs: int) -> Iterator[Figure]:
    waiting = list_waiting_jobs()
    on_sqlite = connection.vendor == "sqlite"
    alone = measure_rate(append_in_turn(waiting), seconds=SECONDS)
    yield at_least("append, one event a transaction", alone, "events/s", 800 if on_sqlite else 300)
    together = measure_rate(append_in_batches(waiting), seconds=SECONDS)
    yield at_least("append, in batches of 50", together, "events/s", 4000)
    yield at_least("claim_stage, whole", measure_claims(waiting), "claims/s")
    yield at_least("raw one-row transactions", measure_rate(insert_raw, seconds=1.5), "rows/s")
    yield at_least("bare ORM creates", measure_rate(create_bare, seconds=1.5), "rows/s")


def list_waiting_jobs() -> list[UUID]:
    """Jobs that wait for their score, or were left there running by another figure, far apart in the table."""
    open_states = (StageState.PENDING, StageState.RUNNING)
    rows = JobStageState.objects.filter(stage=StageName.SCORE, state__in=open_states).order_by("id")
    ids = list(rows.values_list("job_id", flat=True))
    return [ids[number * STRIDE % len(ids)] for number in range(len(ids))]


def plan_next(row: JobStageState) -> RowMove:
    """From pending to running or back: one stage write, one event, two projection rows."""
    if row.state == StageState.RUNNING:
        return plan_reset(row, reason_code="benchmark", attempts=0)
    event = StageStarted(
        job_id=row.job_id, stage=row.stage, attempt=1, workflow_id=OWNER.workflow_id, run_id=OWNER.run_id
    )
    changes: dict[str, object] = {
        "attempts": 1,
        "owner_workflow_id": OWNER.workflow_id,
        "owner_run_id": OWNER.run_id,
        "owner_attempt": 1,
        "lease_epoch": row.lease_epoch + 1,
        "started_at": timezone.now(),
        "finished_at": None,
    }
    return RowMove(row, StageState.RUNNING, event, changes)


def append_in_turn(waiting: list[UUID]) -> Callable[[], int]:
    position = 0

    def append_some() -> int:
        nonlocal position
        for _ in range(20):
            with writer():
                move_rows([plan_next(get_row(waiting[position % len(waiting)], StageName.SCORE))])
            position += 1
        return 20

    return append_some


def append_in_batches(waiting: list[UUID]) -> Callable[[], int]:
    position = 0

    def append_batch() -> int:
        nonlocal position
        wanted = [waiting[number % len(waiting)] for number in range(position, position + BATCH)]
        with writer():
            rows = list_rows_in_stage(StageName.SCORE, wanted)
            move_rows([plan_next(row) for row in rows])
        position += BATCH
        return len(rows)

    return append_batch


def measure_claims(waiting: list[UUID]) -> float:
    """Claims a second, with every guard that a claim passes. Each job is claimed once and put back at the end."""
    jobs = iter(waiting[:CLAIMS])
    put_back()
    times = measure_times(
        lambda: claim_stage(next(jobs), StageName.SCORE, owner=OWNER, profile_version=1), repeats=CLAIMS - 1
    )
    put_back()
    return 1000 / compute_percentile(times, 50)


def put_back() -> None:
    rows = JobStageState.objects.filter(stage=StageName.SCORE, state=StageState.RUNNING)
    with writer():
        move_rows([plan_reset(row, reason_code="benchmark", attempts=0) for row in rows])


def insert_raw() -> int:
    """What the database gives without any framework: an untyped row of the log, committed."""
    now = datetime.now(UTC)
    on_sqlite = connection.vendor == "sqlite"
    mark = "?" if on_sqlite else "%s"
    statement = (
        "INSERT INTO job_events (tenant_id, event_type, version, typed, workflow_id, run_id, payload, recorded_at) "
        f"VALUES ({', '.join([mark] * 8)})"
    )
    moment = now.replace(tzinfo=None).isoformat(" ") if on_sqlite else now
    values = ("local", "BenchmarkRow", 1, False, "", "", json.dumps({"stage": "score"}), moment)
    connection.ensure_connection()
    for _ in range(20):
        connection.connection.execute("BEGIN IMMEDIATE" if on_sqlite else "BEGIN")
        connection.connection.execute(statement, values)
        connection.connection.execute("COMMIT")
    return 20


def create_bare() -> int:
    for _ in range(20):
        JobEventRow.objects.create(
            event_type="BenchmarkRow", typed=False, payload={"stage": "score"}, recorded_at=timezone.now()
        )
    return 20
