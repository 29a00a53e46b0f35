"""Doctor's look at Temporal, plain and over TLS, and whose heartbeat tells that our own worker is there."""

import asyncio
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django import Settings
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import Worker

from operations.health import check_temporal
from operations.models import WorkerRuntimeHeartbeat
from operations.processes import temporal_server
from operations.processes.children import Running
from operations.processes.product import NotOurTemporal, is_worker_ready
from tests.temporal import TemporalServer


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


def beat(worker_id: str, *, started_at: datetime, seen_at: datetime) -> None:
    WorkerRuntimeHeartbeat.objects.create(
        worker_id=worker_id, workspace_identity="w", task_queue="q", process_id=1, slots=4, slots_busy=0,
        started_at=started_at, last_seen_at=seen_at,
    )  # fmt: skip


def test_another_machines_worker_does_not_stand_in_for_ours(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operations.processes.product.connections.close_all", lambda: None)
    began = timezone.now()
    ours = Running(4711, started_at=began)

    def is_ready() -> bool:
        return is_worker_ready(ours, temporal_address="127.0.0.1:1", task_queue="q")

    beat("another", started_at=began - timedelta(hours=1), seen_at=began + timedelta(seconds=9))
    assert not is_ready()
    beat("ours", started_at=began + timedelta(seconds=1), seen_at=began + timedelta(seconds=9))
    assert is_ready()


@pytest.mark.temporal
def test_a_worker_that_was_there_before_is_ready_once_it_takes_work_from_our_temporal(
    db: None, monkeypatch: pytest.MonkeyPatch, temporal: TemporalServer
) -> None:
    monkeypatch.setattr("operations.processes.product.connections.close_all", lambda: None)
    guest, queue = Running(os.getpid(), started_at=None), f"jobctrl-{uuid4()}"

    def is_ready() -> bool:
        return is_worker_ready(guest, temporal_address=temporal.address, task_queue=queue)

    with pytest.raises(NotOurTemporal, match=f"it does not ask Temporal at {temporal.address} for work"):
        is_ready()
    asyncio.run(poll_once(temporal.address, queue))
    assert not is_ready()  # nothing was heard of it
    now = timezone.now()
    beat(f"{os.uname().nodename}-{os.getpid()}1-x", started_at=now, seen_at=now)
    beat(f"elsewhere-{os.getpid()}-x", started_at=now, seen_at=now)
    beat(f"{os.uname().nodename}-{os.getpid()}-old", started_at=now, seen_at=now - timedelta(minutes=1))
    assert not is_ready()
    beat(f"{os.uname().nodename}-{os.getpid()}-x", started_at=now - timedelta(hours=1), seen_at=now)
    assert is_ready()


async def poll_once(address: str, queue: str) -> None:
    """A worker of the SDK that asks for work and gets none."""
    client = await Client.connect(address)
    async with Worker(client, task_queue=queue, workflows=[Idle]):
        await asyncio.sleep(1)


@workflow.defn(sandboxed=False)
class Idle:
    @workflow.run
    async def run(self) -> None: ...
