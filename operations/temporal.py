"""The Temporal client, for commands and for code that runs in the worker's threads."""

import asyncio
import atexit
import concurrent.futures
import functools
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings

from operations.errors import NotConfigured, WorkerUnavailable

if TYPE_CHECKING:
    from temporalio.client import Client

T = TypeVar("T")

BRIDGE_SECONDS = 0.2
LOOP_SECONDS = 5
NO_ANSWER = "Temporal did not answer. Try again in a moment."


class _Shared:
    client: "Client | None" = None
    loop: asyncio.AbstractEventLoop | None = None


def resolve_address() -> str:
    """``TEMPORAL_ADDRESS``, else the embedded server's port (a free one is kept in the home)."""
    if settings.TEMPORAL_ADDRESS:
        return str(settings.TEMPORAL_ADDRESS)
    port = settings.JOBCTRL_TEMPORAL_PORT
    if port == 0:
        try:
            port = int((settings.JOBCTRL_HOME.root / "temporal.port").read_text(encoding="ascii"))
        except (OSError, ValueError):
            raise WorkerUnavailable("Temporal has not been started here yet. Run: manage.py up") from None
    return f"127.0.0.1:{port}"


async def connect() -> "Client":
    """A client of this workspace's namespace; raises ``WorkerUnavailable`` where it cannot be reached."""
    from temporalio.client import Client
    from temporalio.service import RPCError

    settle_bridge_at_exit()
    address = resolve_address()
    try:
        return await asyncio.wait_for(
            Client.connect(address, namespace=settings.TEMPORAL_NAMESPACE, tls=read_tls()), timeout=10
        )
    except (RPCError, RuntimeError, TimeoutError) as error:
        raise WorkerUnavailable(
            f"Temporal cannot be reached at {address}. Start everything with: manage.py up"
        ) from error


@functools.cache
def settle_bridge_at_exit() -> None:
    """Once a process: let the SDK's own threads leave Python before the interpreter ends.

    One that still hands over an answer then aborts the whole process, after its work was done
    (temporalio/sdk-python issue 300; seen in every second short command).
    """
    atexit.register(time.sleep, BRIDGE_SECONDS)


def read_tls() -> Any:
    """``False`` for a plain connection. Raises ``NotConfigured`` where a file of TEMPORAL_TLS_* cannot be read."""
    if not (settings.TEMPORAL_TLS_CERT or settings.TEMPORAL_TLS_CA):
        return False
    from pathlib import Path

    from temporalio.service import TLSConfig

    def read(name: str) -> bytes | None:
        path = str(getattr(settings, name))
        try:
            return Path(path).read_bytes() if path else None
        except OSError as error:
            raise NotConfigured(
                f"{name}: {path} cannot be read ({error.strerror}). Name a file in PEM form, or leave it empty."
            ) from None

    return TLSConfig(
        server_root_ca_cert=read("TEMPORAL_TLS_CA"),
        domain=settings.TEMPORAL_TLS_SERVER_NAME or None,
        client_cert=read("TEMPORAL_TLS_CERT"),
        client_private_key=read("TEMPORAL_TLS_KEY"),
    )


def share_client(client: "Client", loop: asyncio.AbstractEventLoop) -> None:
    """Let the worker's threads use its one connection."""
    _Shared.client, _Shared.loop = client, loop


def call_temporal(work: Callable[["Client"], Awaitable[T]], *, timeout: timedelta = timedelta(seconds=60)) -> T:
    """Run client code from synchronous code; never inside ``writer()``, since it is a network call.

    Raises ``WorkerUnavailable`` where Temporal is gone or has not answered in time; the call is given up then.
    """
    seconds = timeout.total_seconds()
    if _Shared.client is not None and _Shared.loop is not None:
        answer = asyncio.run_coroutine_threadsafe(_answer(work(_Shared.client), seconds), _Shared.loop)
        try:
            return answer.result(seconds + LOOP_SECONDS)
        except concurrent.futures.TimeoutError:  # the loop itself does not run any more
            answer.cancel()
            raise WorkerUnavailable(NO_ANSWER) from None

    async def run() -> T:
        return await work(await connect())

    return _run_apart(_answer(run(), seconds))


async def _answer(awaitable: Awaitable[T], seconds: float) -> T:
    from temporalio.service import RPCError, RPCStatusCode

    gone = (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except TimeoutError:
        raise WorkerUnavailable(NO_ANSWER) from None
    except RPCError as error:
        if error.status in gone:
            raise WorkerUnavailable(NO_ANSWER) from None
        raise


def _run_apart(coroutine: Coroutine[Any, Any, T]) -> T:
    """A loop of its own, in a thread of its own where this one already has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    results: list[T] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            results.append(asyncio.run(coroutine))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
