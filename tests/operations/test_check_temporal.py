"""Doctor's look at Temporal, plain and over TLS, and whose heartbeat tells that our own worker is there."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from operations.health import check_temporal
from operations.models import WorkerRuntimeHeartbeat
from operations.processes import temporal_server
from operations.processes.product import has_worker_since


@pytest.fixture
def asked(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """With which TLS a cluster was asked; it keeps histories for a hundred days."""
    settings.TEMPORAL_ADDRESS = "temporal.example:7233"
    seen: list[Any] = []

    def read_retention(address: str, namespace: str, *, tls: Any) -> timedelta:
        seen.append(tls)
        return timedelta(days=100)

    monkeypatch.setattr(temporal_server, "read_retention", read_retention)
    return seen


def test_it_asks_a_cluster_as_the_worker_does(asked: list[Any], settings: Settings, tmp_path: Path) -> None:
    assert check_temporal().verdict == "ok"
    authority = tmp_path / "ca.pem"
    authority.write_text("of a test")
    settings.TEMPORAL_TLS_CA = str(authority)
    assert check_temporal().verdict == "ok"
    assert (asked[0], asked[1].server_root_ca_cert) == (False, b"of a test")


def test_it_names_a_certificate_that_cannot_be_read(asked: list[Any], settings: Settings, tmp_path: Path) -> None:
    settings.TEMPORAL_TLS_CERT = str(tmp_path / "none.pem")
    finding = check_temporal()
    assert finding.verdict == "failed"
    assert finding.detail.startswith(f"TEMPORAL_TLS_CERT: {tmp_path}/none.pem cannot be read (No such file")
    assert asked == []


def test_another_machines_worker_does_not_stand_in_for_ours(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operations.processes.product.connections.close_all", lambda: None)
    began = timezone.now()

    def beat(worker_id: str, *, started: timedelta) -> None:
        WorkerRuntimeHeartbeat.objects.create(
            worker_id=worker_id, workspace_identity="w", task_queue="q", process_id=1, slots=4, slots_busy=0,
            started_at=began + started, last_seen_at=began + timedelta(seconds=9),
        )  # fmt: skip

    beat("another", started=timedelta(hours=-1))
    assert not has_worker_since(began)
    beat("ours", started=timedelta(seconds=1))
    assert has_worker_since(began)
