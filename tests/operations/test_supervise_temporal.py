"""The embedded Temporal server under the supervisor: flags, port, retention, and nothing left behind."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from jobctrl.home import Home
from operations.processes.children import Running
from operations.processes.ports import (
    PortTaken,
    choose_free_port,
    describe_port_owner,
    is_port_free,
)
from operations.processes.product import build_temporal_part
from operations.processes.temporal_server import (
    OWN_DEFAULT_PORT,
    PORT_FILE,
    BadPort,
    TemporalUnreachable,
    build_server_argv,
    choose_port,
    choose_ui_port,
    ensure_retention,
    find_server,
    is_serving,
    read_kept_port,
    read_retention,
    read_server_port,
)
from tests.processes import is_process_alive, wait_until
from tests.temporal import TemporalServer, running_temporal, start_temporal

ROOT = Path(__file__).resolve().parents[2]

SUPERVISED = """
import sys, time
from datetime import datetime
from pathlib import Path
from jobctrl.home import Home
from operations.processes.children import Part
from operations.processes.supervisor import Supervisor
from operations.processes.temporal_server import build_server_argv, find_temporal_binary, is_serving

home, port = Home(Path(sys.argv[1])), int(sys.argv[2])
home.create()
argv = build_server_argv(find_temporal_binary(), db_file=home.temporal_database, port=port)
parts = [
    Part(name="temporal", argv=argv, is_healthy=lambda _: is_serving(f"127.0.0.1:{port}")),
    Part(name="worker", argv=(sys.executable, "-c", "import time; time.sleep(600)"), is_healthy=lambda _: True),
    Part(name="web", argv=(sys.executable, "-c", "import time; time.sleep(600)"), is_healthy=lambda _: True),
]
with Supervisor(home, parts, announce=lambda line: print(line, file=sys.stderr, flush=True)) as supervisor:
    print(*supervisor.pids.values(), flush=True)
    supervisor.wait()
"""


@contextmanager
def listening_program() -> Iterator[tuple[int, int]]:
    """The (port, pid) of another process that listens on loopback."""
    program = (
        "import socket, sys, time\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print(server.getsockname()[1], flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "somebody-else"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline()), process.pid
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    with running_temporal(tmp_path_factory.mktemp("temporal") / "temporal.db", namespace="another") as server:
        yield server


@pytest.mark.temporal
def test_sigkill_of_the_supervisor_leaves_no_process(tmp_path: Path) -> None:
    port = choose_free_port()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SUPERVISED, str(tmp_path / "home"), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path) as supervisor:
        assert supervisor.stdout is not None
        pids = [int(word) for word in supervisor.stdout.readline().split()]
        assert len(pids) == 3
        assert all(map(is_process_alive, pids))
        supervisor.kill()
    wait_until(lambda: not any(map(is_process_alive, pids)), what="the children of the killed supervisor are gone")
    wait_until(lambda: is_port_free(port), what="the port is free again")


@pytest.mark.temporal
def test_the_server_stops_when_asked(tmp_path: Path) -> None:
    server = start_temporal(tmp_path / "temporal.db")
    server.stop()
    assert server.process.returncode == 0
    assert not is_serving(server.address)


@pytest.mark.temporal
def test_it_keeps_histories_for_ninety_days_from_then_on(tmp_path: Path) -> None:
    db_file = tmp_path / "temporal.db"
    with running_temporal(db_file) as server:
        assert read_retention(server.address) == timedelta(days=1)
        assert ensure_retention(server.address) == timedelta(days=90)
    with running_temporal(db_file, port=server.port) as server:
        assert read_retention(server.address) == timedelta(days=90)


@pytest.mark.temporal
def test_it_never_shortens_a_retention(server: TemporalServer) -> None:
    assert ensure_retention(server.address, "another", days=120) == timedelta(days=120)
    assert ensure_retention(server.address, "another", days=90) == timedelta(days=120)
    assert read_retention(server.address, "default") < timedelta(days=90)


@pytest.mark.temporal
def test_it_says_that_a_namespace_is_unknown(server: TemporalServer) -> None:
    with pytest.raises(TemporalUnreachable, match=f"Temporal at {server.address}: .*nobody"):
        read_retention(server.address, "nobody")


@pytest.mark.temporal
def test_it_stores_its_state_in_a_write_ahead_log(server: TemporalServer) -> None:
    with sqlite3.connect(f"file:{server.log.with_suffix('.db')}?mode=ro", uri=True) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_it_says_that_nothing_answers() -> None:
    address = f"127.0.0.1:{choose_free_port()}"
    assert not is_serving(address)
    with pytest.raises(TemporalUnreachable, match=address):
        read_retention(address)


def test_it_gives_up_on_a_server_that_accepts_and_stays_silent() -> None:
    with listening_program() as (port, _):
        assert not is_serving(f"127.0.0.1:{port}")


def test_it_listens_on_loopback_only_and_has_no_web_pages() -> None:
    argv = build_server_argv(Path("/bin/temporal"), db_file=Path("/home/t.db"), port=7233, namespace="mine")
    assert argv == (
        *("/bin/temporal", "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", "7233"),
        *("--db-filename", "/home/t.db"),
        *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *("--log-level", "warn", "--namespace", "mine"),
    )


def test_it_serves_temporals_own_pages_on_loopback_where_they_are_wanted() -> None:
    argv = build_server_argv(Path("/bin/temporal"), db_file=Path("/home/t.db"), port=7233, ui_port=8233)
    assert "--headless" not in argv
    assert argv[3:7] == ("--ui-ip", "127.0.0.1", "--ui-port", "8233")


def test_it_reads_where_temporals_own_pages_are_wanted(tmp_path: Path) -> None:
    assert choose_ui_port(tmp_path, setting="") is None
    kept = choose_ui_port(tmp_path, setting="0")
    assert kept and choose_ui_port(tmp_path, setting=" 0 ") == kept
    for wrong in ("http://x", "-1", "70000", "٣", "8233.0"):
        with pytest.raises(BadPort, match="is not a port"):
            choose_ui_port(tmp_path, setting=wrong)
    with listening_program() as (port, pid), pytest.raises(PortTaken, match=f"taken by pid {pid} "):
        choose_ui_port(tmp_path, setting=str(port))


def test_it_says_which_port_is_taken_by_whom(tmp_path: Path) -> None:
    with listening_program() as (port, pid), pytest.raises(PortTaken) as refusal:
        choose_port(tmp_path, wanted=port)
    message = str(refusal.value)
    assert f"Port {port} on 127.0.0.1" in message
    assert f"taken by pid {pid} ({sys.executable}" in message
    assert "JOBCTRL_TEMPORAL_PORT=0" in message
    assert f"TEMPORAL_ADDRESS=127.0.0.1:{port}" in message


def test_it_says_another_process_where_the_owner_cannot_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise psutil.AccessDenied  # as for another user's process

    monkeypatch.setattr(psutil.Process, "net_connections", refuse)
    with listening_program() as (port, _):
        assert describe_port_owner(port) == "another process"


@pytest.mark.temporal
def test_it_knows_the_server_of_its_own_database(tmp_path: Path) -> None:
    ours, other = tmp_path / "ours" / "temporal.db", tmp_path / "other" / "temporal.db"
    ours.parent.mkdir()
    other.parent.mkdir()
    other.touch()
    with running_temporal(ours) as server, sqlite3.connect(ours):  # this process has it open too, and serves nothing
        found = find_server(ours)
        assert found
        assert found.pid == server.process.pid
        assert find_server(other) is None
        assert choose_port(tmp_path, wanted=0, server=found) == server.port
        assert read_kept_port(tmp_path) == server.port
        assert choose_port(tmp_path, wanted=server.port, server=found) == server.port
        with pytest.raises(
            PortTaken,
            match=rf"runs already, on port {server.port} \(pid {found.pid}\), and JOBCTRL_TEMPORAL_PORT names 7",
        ):
            choose_port(tmp_path, wanted=7, server=found)
    assert find_server(ours) is None
    (tmp_path / PORT_FILE).unlink()
    assert choose_port(tmp_path, wanted=0, server=found) != OWN_DEFAULT_PORT  # it ended after it was found


def test_a_server_that_does_not_answer_is_not_ready_and_it_says_why(tmp_path: Path) -> None:
    port = choose_free_port()
    part = build_temporal_part(Home(tmp_path), port=port, ui_port=None, namespace="default")
    with pytest.raises(TemporalUnreachable, match=rf"Temporal at 127\.0\.0\.1:{port}: .*[Cc]onnect"):
        part.is_healthy(Running(os.getpid(), started_at=None))


@pytest.mark.parametrize(
    ("arguments", "port"),
    [("--port 7001", 7001), ("--port=7002", 7002), ("-p 7003", 7003), ("--ui-port 1 --http-port 2", 7233)],
)
def test_it_reads_a_servers_port(arguments: str, port: int) -> None:
    assert read_server_port(["temporal", "server", "start-dev", *arguments.split()]) == port


def test_it_keeps_a_free_port_for_the_workspace(tmp_path: Path) -> None:
    first = choose_port(tmp_path, wanted=0)
    assert choose_port(tmp_path, wanted=0) == first
    with socket.create_server(("127.0.0.1", first)):
        other = choose_port(tmp_path, wanted=0)
    assert other != first
    assert choose_port(tmp_path, wanted=0) == other


def test_the_tests_server_dies_with_its_process(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom tests.temporal import start_temporal\n"
        "server = start_temporal(Path(sys.argv[1]))\nprint(server.process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "t.db")],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL, run.stderr
    pid = int(run.stdout)
    wait_until(lambda: not is_process_alive(pid), what="the server of the killed test process is gone")
