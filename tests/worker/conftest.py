"""Fixtures of the tests with real parts: each workspace has its own namespace of the Temporal server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.boardserver import BoardServer
from tests.template import Template
from tests.temporal import TemporalServer
from tests.worker.making import new_workspace
from tests.worker.workspace import Workspace


@pytest.fixture
def boards() -> Iterator[BoardServer]:
    with BoardServer() as server:
        yield server


@pytest.fixture
def make_workspace(
    tmp_path: Path, template: Template, temporal: TemporalServer, boards: BoardServer
) -> Iterator[Callable[[], Workspace]]:
    """Workspaces that may reach the loopback boards; none has a worker or a profile yet."""
    with ExitStack() as stack:
        made: list[Workspace] = []

        def make() -> Workspace:
            folder = tmp_path / f"workspace-{len(made)}"
            workspace = stack.enter_context(
                new_workspace(folder, template=template, temporal_address=temporal.address, allow=[boards.host_port])
            )
            made.append(workspace)
            return workspace

        yield make


@pytest.fixture
def workspace(make_workspace: Callable[[], Workspace]) -> Workspace:
    return make_workspace()
