"""Fixtures of the API's tests: a script with a token, a signed-in browser, a worker that seems alive."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from discovery.services.profiles import import_profile
from operations.access.accounts import ensure_operator
from operations.access.tokens import create_token
from operations.contracts import StageName, StageState
from operations.models import (
    JobEventRow,
    JobListProjection,
    JobStageState,
    PendingActivity,
    WorkerRuntimeHeartbeat,
    WorkflowRunProjection,
)
from operations.workspace import ensure_workspace
from tests.temporal import TemporalServer

SAMPLE = Path(__file__).resolve().parents[3] / "discovery" / "sample_profile.json"


JOBS = 2000
START = datetime(2026, 10, 1, tzinfo=UTC)
TITLES = ("Backend Engineer", "Data Engineer", "QA Lead", "Büroleitung")


class Script(Client):
    """A program with a token, which speaks JSON."""

    def send(self, method: str, path: str, body: Any = b"", **headers: str) -> Any:
        return self.generic(method, path, body, content_type="application/json", headers=headers or None)


@pytest.fixture
def operator(db: None) -> User:
    return ensure_operator()


@pytest.fixture
def script(operator: User) -> Script:
    _, token = create_token(operator, label="tests", now=timezone.now())
    return Script(raise_request_exception=False, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def visitor(operator: User) -> Client:
    """Signed in, and its forms must prove where they come from."""
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(operator)
    return client


@pytest.fixture
def profile(db: None) -> int:
    return import_profile(SAMPLE.read_bytes()).version


def note_worker(*, seconds_ago: int = 0) -> None:
    now = timezone.now() - timedelta(seconds=seconds_ago)
    WorkerRuntimeHeartbeat.objects.update_or_create(
        worker_id="w-test",
        defaults={
            "workspace_identity": ensure_workspace().identity,
            "task_queue": ensure_workspace().task_queue,
            "process_id": 1,
            "slots": 4,
            "started_at": now,
            "last_seen_at": now,
        },
    )


@pytest.fixture
def ready(profile: int, temporal: TemporalServer, settings: Any) -> TemporalServer:
    """A profile, a fresh heartbeat and a Temporal that answers; nobody takes the work, so runs stay open."""
    settings.TEMPORAL_ADDRESS = temporal.address
    note_worker()
    return temporal


@pytest.fixture(scope="module")
def _many(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[UUID]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield insert_many()
        transaction.set_rollback(True)


@pytest.fixture
def many(_many: UUID, db: None) -> UUID:
    """2,000 jobs with their stage rows, runs and events; the first one's id. Written once for a file, and there until
    its last test: each test's own transaction is within theirs."""
    return _many


def insert_many() -> UUID:
    """Row by row past the services."""
    ids = [UUID(int=number + 1) for number in range(JOBS)]
    JobListProjection.objects.bulk_create(
        JobListProjection(
            job_id=job_id,
            title=TITLES[number % 4],
            company=f"Company {number % 60}",
            location="Berlin" if number % 400 else "Lisboa, PT",
            work_mode="remote" if number % 8 == 3 else "unknown",
            source=f"greenhouse:board-{number % 20}",
            active_state="active" if number % 50 else "closed",
            hidden=number % 40 == 1,
            deleted=number % 40 == 2,
            has_documents=number % 10 == 0,
            sort_score=number % 11 or -1,
            fit_score=number % 11 or None,
            discovered_at=START + timedelta(minutes=number // 3),
        )
        for number, job_id in enumerate(ids)
    )
    JobStageState.objects.bulk_create(
        JobStageState(
            job_id=job_id,
            stage=stage,
            state=StageState.EXHAUSTED if number % 500 == 0 else StageState.SUCCEEDED,
            updated_at=START,
        )
        for number, job_id in enumerate(ids)
        for stage in (StageName.ENRICH, StageName.SCORE)
    )
    WorkflowRunProjection.objects.bulk_create(
        WorkflowRunProjection(
            run_id=f"run-{number:05d}",
            workflow_id=f"prep-{number:05d}",
            workflow_type="JobPreparationWorkflow" if number % 20 else "DiscoverWorkflow",
            status=("succeeded", "failed", "timed_out", "in_progress")[number % 40 if number % 40 < 4 else 0],
            job_id=job_id,
            first_seen_at=START + timedelta(minutes=number // 3),
            started_at=START + timedelta(minutes=number // 3),
            error_code="source_unavailable" if number % 40 == 1 else "",
            duration_ms=-1 if number % 40 == 3 else number % 700 * 1000,
        )
        for number, job_id in enumerate(ids)
    )
    PendingActivity.objects.bulk_create(
        PendingActivity(
            run_id=f"run-{number:05d}",
            activity_type="score_job",
            attempt=number // 40 % 3,
            maximum_attempts=3,
            state="waiting",
            observed_at=timezone.now() + timedelta(hours=1),  # however long these tests take
        )
        for number in range(3, JOBS, 40)
    )
    JobEventRow.objects.bulk_create(
        JobEventRow(
            event_type=name,
            job_id=job_id,
            workflow_id=f"prep-{number:05d}" if name == "StageStarted" else "",
            run_id=f"run-{number:05d}" if name == "StageStarted" else "",
            payload={"stage": "score", "attempt": 1},
            recorded_at=START,
        )
        for number, job_id in enumerate(ids)
        for name in ("JobDiscovered", "StageStarted", "JobScored")
    )
    return ids[0]


def walk(script: Script, path: str, rows: str, **query: Any) -> Iterator[dict[str, Any]]:
    """Every row, page by page."""
    cursor = ""
    while True:
        answer = script.get(path, {**query, **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.content
        yield from answer.json()[rows]
        cursor = answer.json()["nextCursor"]
        if not cursor:
            return
