"""Fixtures of the API's tests: a script with a token, a signed-in browser, a worker that seems alive."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from discovery.services.profiles import import_profile
from operations.access.accounts import ensure_operator
from operations.access.tokens import create_token
from operations.models import WorkerRuntimeHeartbeat
from operations.workspace import ensure_workspace
from tests.temporal import TemporalServer, running_temporal

SAMPLE = Path(__file__).resolve().parents[3] / "discovery" / "sample_profile.json"


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


@pytest.fixture(scope="session")
def temporal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    with running_temporal(tmp_path_factory.mktemp("temporal") / "temporal.db") as server:
        yield server


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
