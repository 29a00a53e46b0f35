"""Fixtures of the engine's tests."""

import socket
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from operations import database as database_module
from operations.contracts import StageName
from operations.database import current_write
from operations.folding import registry as folds
from operations.stage_engine import declaration
from tests.operations.cast import Cast, ScriptedStage, record_cast
from tests.operations.databases import SharedDatabase
from tests.operations.shadow import ShadowApp


@pytest.fixture(autouse=True)
def _no_network_inside_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer is held for milliseconds; whoever calls out while holding it stops every other writer."""
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, _guard(getattr(socket.socket, name)))


def _guard(call: Any) -> Any:
    def connect(self: socket.socket, address: object) -> Any:
        assert current_write() is None, f"a network call to {address!r} was made inside writer()"
        return call(self, address)

    return connect


@pytest.fixture
def cast(db: None) -> Cast:
    return record_cast()


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> dict[StageName, ScriptedStage]:
    """Every per-job stage, scripted, in place of the product's own."""
    names = (StageName.ENRICH, StageName.SCORE, StageName.TAILOR, StageName.COVER, StageName.PDF)
    scripted = {name: ScriptedStage(name) for name in names}
    monkeypatch.setattr(declaration, "_stages", scripted)
    return scripted


@pytest.fixture
def shared(transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedDatabase]:
    """Threads that stand for processes: what keeps them apart is the database, not the lock within one process."""
    monkeypatch.setattr(database_module, "_turn", nullcontext())
    database = SharedDatabase(tmp_path)
    with database.connect():
        yield database
    database.close()


@pytest.fixture
def shadow(db: None, monkeypatch: pytest.MonkeyPatch) -> ShadowApp:
    """A second app with one projection, whose fold can be made to fail."""
    monkeypatch.setattr(folds, "_tables", dict(folds._tables))
    return ShadowApp()
