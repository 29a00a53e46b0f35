"""The product's own parts, put together: what ``manage.py up`` and the demo run."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from jobctrl.home import Home
from operations.access.accounts import ensure_operator, forget_expired_sessions
from operations.access.links import create_link
from operations.access.throttle import forget_old_failures
from operations.processes.children import Part, Running
from operations.processes.ports import LOOPBACK
from operations.processes.presence import WORKER, list_present
from operations.processes.supervisor import Supervisor
from operations.processes.temporal_server import (
    build_server_argv,
    choose_port,
    choose_ui_port,
    ensure_retention,
    find_server,
    find_temporal_binary,
    is_serving,
    list_pollers,
    refuse_damaged,
)
from operations.processes.web_server import WebAddress, build_web_argv, choose_address, find_web, is_web_serving
from operations.processes.workspace_lock import hold_workspace
from operations.queries import has_worker_begun_since, is_worker_heard_of
from operations.temporal import read_tls
from operations.workspace import check_free_space, ensure_workspace, refuse_foreign_worker

WEB_STOP_SECONDS = 10.0
WORKER_STOP_SECONDS = 20.0
TEMPORAL_STOP_SECONDS = 10.0


class NotOurTemporal(RuntimeError):
    """A worker of this workspace takes its work from somewhere else."""


@dataclass(frozen=True, slots=True)
class Product:
    """The running parts and where Temporal and the web app answer; ``web`` is ``None`` where it was not wanted."""

    supervisor: Supervisor
    temporal_address: str
    web: WebAddress | None

    def create_sign_in_link(self, *, target: str = "/") -> str:
        """A one-time address of the web app's page ``target``; it works for ten minutes."""
        if self.web is None:
            raise RuntimeError("this product runs without its web part")
        try:
            return create_link(self.web.base_url, now=timezone.now(), target=target)
        finally:
            connections.close_all()


@contextmanager
def run_product(*, announce: Callable[[str], None], verbose: bool = False, with_web: bool = True) -> Iterator[Product]:
    """Inside it the workspace is created, migrated and served: Temporal (embedded unless TEMPORAL_ADDRESS is set), the
    worker and the web app are healthy. Those that did not run before are stopped on the way out, the web app first.
    ``announce`` gets one line per change, from another thread.

    Raises:
        HomeUnusable, OperationsError (a full disk, a moved workspace), AlreadyRunning, PortTaken, BadAddress, BadPort,
            TemporalDamaged, TemporalMissing, SupervisorError: each message says what to do.
    """
    home: Home = settings.JOBCTRL_HOME
    home.create()
    check_free_space()
    with hold_workspace(home.root):
        announce(f"workspace: {home.root}")
        web = choose_address(home.root, setting=settings.JOBCTRL_WEB_ADDRESS) if with_web else None
        call_command("migrate", interactive=False, verbosity=0)
        workspace = ensure_workspace()
        refuse_foreign_worker()
        prepare_access()
        connections.close_all()
        address, ui_url, parts = _choose_parts(home, task_queue=workspace.task_queue)
        if web is not None:
            parts.append(build_web_part(home, address=web, temporal_address=address, temporal_ui_url=ui_url))
        with Supervisor(home, parts, announce=announce, verbose=verbose) as supervisor:
            yield Product(supervisor=supervisor, temporal_address=address, web=web)


def prepare_access() -> None:
    """Make the operator account on the first start; drop sessions and failed sign-ins that are over."""
    ensure_operator()
    forget_expired_sessions()
    forget_old_failures(now=timezone.now())


def build_temporal_part(home: Home, *, port: int, ui_port: int | None, namespace: str) -> Part:
    address = f"{LOOPBACK}:{port}"

    def is_ready(_running: Running) -> bool:
        ensure_retention(address, namespace)  # first: it says what is wrong
        return is_serving(address)

    return Part(
        name="temporal",
        argv=build_server_argv(
            find_temporal_binary(), db_file=home.temporal_database, port=port, ui_port=ui_port, namespace=namespace
        ),
        is_healthy=is_ready,
        find_running=lambda: find_server(home.temporal_database),
        stop_seconds=TEMPORAL_STOP_SECONDS,
        detail=f"at {address}" + (f" with its own pages at {make_ui_url(ui_port)}" if ui_port else ""),
    )


def build_worker_part(home: Home, *, temporal_address: str, task_queue: str) -> Part:
    return Part(
        name="worker",
        argv=(sys.executable, str(settings.BASE_DIR / "manage.py"), "runworker"),
        is_healthy=lambda running: is_worker_ready(running, temporal_address=temporal_address, task_queue=task_queue),
        find_running=lambda: next(iter(list_present(home.root, WORKER)), None),
        env={
            "JOBCTRL_HOME": str(home.root),
            "TEMPORAL_ADDRESS": temporal_address,
            "PYTHONUNBUFFERED": "1",
        },
        stop_seconds=WORKER_STOP_SECONDS,
    )


def make_ui_url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"


def build_web_part(home: Home, *, address: WebAddress, temporal_address: str, temporal_ui_url: str) -> Part:
    paths = [str(settings.BASE_DIR), *filter(None, [os.environ.get("PYTHONPATH")])]
    return Part(
        name="web",
        argv=build_web_argv(address),
        is_healthy=lambda _running: is_web_serving(address),
        find_running=lambda: find_web(home.root, address),
        env={
            "DJANGO_SETTINGS_MODULE": "jobctrl.settings",
            "JOBCTRL_HOME": str(home.root),
            "JOBCTRL_WEB_ADDRESS": address.netloc,
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONUNBUFFERED": "1",
            "TEMPORAL_ADDRESS": temporal_address,
            "TEMPORAL_UI_URL": temporal_ui_url,
        },
        stop_seconds=WEB_STOP_SECONDS,
        detail=f"at {address.base_url}",
    )


def is_worker_ready(running: Running, *, temporal_address: str, task_queue: str) -> bool:
    """Whether the worker has been heard of; one that was not started here must also take its work from our Temporal.
    Leaves no connection open.

    Raises:
        NotOurTemporal: it asks another one, or none yet.
        TemporalUnreachable
    """
    try:
        if running.started_at:
            return has_worker_begun_since(running.started_at)
        is_heard_of = is_worker_heard_of(running.pid)
    finally:
        connections.close_all()
    identity = f"{running.pid}@{socket.gethostname()}"  # the SDK's own
    if identity not in list_pollers(temporal_address, task_queue, settings.TEMPORAL_NAMESPACE, tls=read_tls()):
        raise NotOurTemporal(f"it does not ask Temporal at {temporal_address} for work")
    return is_heard_of


def _choose_parts(home: Home, *, task_queue: str) -> tuple[str, str, list[Part]]:
    """Temporal's address, that of its own pages where there are any, and what is to run beside the web app."""
    address, ui_url = str(settings.TEMPORAL_ADDRESS), str(settings.TEMPORAL_UI_URL)
    if address:
        return address, ui_url, [build_worker_part(home, temporal_address=address, task_queue=task_queue)]
    refuse_damaged(home.temporal_database)
    server = find_server(home.temporal_database)
    port = choose_port(home.root, wanted=settings.JOBCTRL_TEMPORAL_PORT, server=server)
    # Whoever started a server chose whether it shows pages of its own; TEMPORAL_UI_URL can say where.
    ui_port = None if server else choose_ui_port(home.root, setting=settings.JOBCTRL_TEMPORAL_UI_PORT)
    address = f"{LOOPBACK}:{port}"
    parts = [
        build_temporal_part(home, port=port, ui_port=ui_port, namespace=settings.TEMPORAL_NAMESPACE),
        build_worker_part(home, temporal_address=address, task_queue=task_queue),
    ]
    return address, ui_url or (make_ui_url(ui_port) if ui_port else ""), parts
