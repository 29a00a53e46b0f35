"""Fixtures of the engine's tests."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from operations import database as database_module
from operations.contracts import StageName
from operations.database import current_write
from operations.folding import registry as folds
from operations.stage_engine import declaration
from tests.modelserver import ModelServer
from tests.operations.asking import KEY
from tests.operations.cast import Cast, ScriptedStage, record_cast
from tests.operations.databases import SharedDatabase
from tests.operations.shadow import ShadowApp
from tests.temporal import TemporalServer


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


@pytest.fixture(scope="session")
def server(temporal_server: TemporalServer) -> TemporalServer:
    return temporal_server


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


@pytest.fixture(scope="session")
def _started_models() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def one_connection(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What an event loop runs in a thread uses the test's own connection, so that the test can be rolled back."""
    own = connections["default"]
    run_in_thread = asyncio.BaseEventLoop.run_in_executor

    def run_with_own(loop: Any, executor: Any, function: Any, *given: Any) -> Any:
        def work() -> Any:
            connections["default"] = own
            return function(*given)

        return run_in_thread(loop, executor, work)

    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", run_with_own)
    own.inc_thread_sharing()
    yield
    own.dec_thread_sharing()


@pytest.fixture
def models(_started_models: ModelServer, settings: Any) -> ModelServer:
    """The three providers on loopback, with keys that no page, row or log may show."""
    _started_models.clear()
    for name, url in _started_models.base_urls.items():
        setattr(settings, name, url)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        setattr(settings, name, KEY)
    return _started_models
