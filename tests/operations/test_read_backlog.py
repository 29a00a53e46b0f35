"""What waits in the task queue, asked of a real Temporal server."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from operations.task_queue import read_backlog
from operations.temporal_probe import TemporalState, temporal_probe
from operations.workspace import ensure_workspace
from tests.processes import wait_until
from tests.temporal import running_temporal

pytestmark = [pytest.mark.temporal, pytest.mark.django_db]


async def start_three(address: str, queue: str) -> None:
    client = await Client.connect(address)
    for number in range(3):
        await client.start_workflow("NobodyServesThis", id=f"waits-{number}", task_queue=queue)


def test_it_counts_what_waits_and_says_nothing_without_an_answer(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [TemporalState.REACHABLE]
    monkeypatch.setattr(temporal_probe, "read", lambda: known[0])
    with running_temporal(tmp_path / "temporal.db") as server:
        settings.TEMPORAL_ADDRESS, settings.TEMPORAL_NAMESPACE = server.address, "default"
        asyncio.run(start_three(server.address, ensure_workspace().task_queue))
        wait_until(
            lambda: read_backlog() == {"workflow": 3, "activity": 0}, what="three workflow tasks wait", seconds=20
        )

        known[0] = TemporalState.UNREACHABLE
        assert read_backlog() == {}
    known[0] = TemporalState.REACHABLE  # as it was known a moment ago
    assert read_backlog() == {}
