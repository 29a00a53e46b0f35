"""A worker that starts before Temporal does brings its records up to date before it takes any work."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from operations.processes.ports import LOOPBACK
from tests.processes import choose_quiet_port
from tests.template import Template
from tests.temporal import running_temporal
from tests.worker.making import new_workspace
from tests.worker.workspace import START_SECONDS, Workspace

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]

LOST = """
from operations.contracts import WorkflowStart
from operations.services.runs import record_started
record_started(WorkflowStart("discover-local", "01234567-89ab-4def-8123-456789abcdef", "DiscoverWorkflow", {}))
"""


@pytest.fixture
def early(tmp_path: Path, template: Template) -> Iterator[Workspace]:
    """A workspace whose Temporal is not running yet."""
    with new_workspace(tmp_path / "workspace", template=template, temporal_address="", allow=[]) as made:
        made.temporal_address, made.namespace = f"{LOOPBACK}:{choose_quiet_port()}", "default"
        yield made


def test_it_reconciles_once_temporal_is_there_and_before_it_is_ready(early: Workspace, tmp_path: Path) -> None:
    early.run_python(LOST)
    port = int(early.temporal_address.rpartition(":")[2])
    with socket.create_server((LOOPBACK, port)) as deaf:
        worker = early.spawn_worker()
        deaf.settimeout(START_SECONDS)
        deaf.accept()[0].close()
    with running_temporal(tmp_path / "temporal.db", port=port):
        early.wait_until(lambda: worker.pid in early.list_living_workers(), what="the first heartbeat")
        assert early.query("SELECT status, provisional FROM workflow_run_projections") == [("terminated", 1)]
        assert early.stop_worker() == 0
