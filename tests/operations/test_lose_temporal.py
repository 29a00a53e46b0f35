"""A Temporal that is gone, or accepts a connection and then says nothing."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pytest_django import Settings
from temporalio.service import RPCError, RPCStatusCode

from operations import temporal
from operations.errors import WorkerUnavailable
from operations.temporal import call_temporal, share_client

SHORT = timedelta(seconds=0.5)


@pytest.fixture
def silent(settings: Settings) -> Iterator[None]:
    """Something that listens on Temporal's port and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.TEMPORAL_ADDRESS = f"127.0.0.1:{server.getsockname()[1]}"
        yield


@pytest.fixture
def worker_loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.AbstractEventLoop]:
    """A loop in a thread of its own, with its client shared as the worker shares it."""
    monkeypatch.setattr(temporal._Shared, "client", None)
    monkeypatch.setattr(temporal._Shared, "loop", None)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    client: Any = object()
    share_client(client, loop)
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_a_command_gives_up_on_a_server_that_says_nothing(silent: None) -> None:
    began = time.monotonic()
    with pytest.raises(WorkerUnavailable):
        call_temporal(lambda client: client.service_client.check_health(), timeout=SHORT)
    assert time.monotonic() - began < 5


def test_a_workers_thread_gives_up_and_leaves_nothing_running(worker_loop: asyncio.AbstractEventLoop) -> None:
    left = threading.Event()

    async def wait_for_ever(_: object) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            left.set()

    with pytest.raises(WorkerUnavailable):
        call_temporal(wait_for_ever, timeout=SHORT)
    assert left.wait(5)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (RPCStatusCode.UNAVAILABLE, WorkerUnavailable),
        (RPCStatusCode.DEADLINE_EXCEEDED, WorkerUnavailable),
        (RPCStatusCode.INVALID_ARGUMENT, RPCError),
    ],
)
def test_it_tells_a_lost_server_from_a_refused_question(
    worker_loop: asyncio.AbstractEventLoop, status: RPCStatusCode, expected: type[Exception]
) -> None:
    async def fail(_: object) -> None:
        raise RPCError("no", status, b"")

    with pytest.raises(expected):
        call_temporal(fail)


def test_losing_temporal_is_tried_again() -> None:
    assert WorkerUnavailable().retryable
