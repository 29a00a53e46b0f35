"""``manage.py up`` where parts of this workspace run already, started by hand."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from operations.processes.ports import LOOPBACK
from operations.processes.presence import WORKER, list_present
from operations.processes.web_server import ADDRESS_FILE, build_web_argv, choose_address, is_web_serving, parse_address
from tests.processes import choose_quiet_port, is_process_alive, wait_until
from tests.template import Template
from tests.temporal import running_temporal
from tests.up import ROOT, own_environment, read_pids, run_up, running_up

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]

STARTED_HERE = re.compile(r"^(\w+): running (?!already)", re.MULTILINE)


@pytest.fixture
def environment(tmp_path: Path, template: Template) -> Iterator[dict[str, str]]:
    with own_environment(tmp_path / "home", template) as chosen:
        yield chosen


@contextmanager
def running_by_hand(
    arguments: list[str], environment: Mapping[str, str], log: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("wb") as output:
        process = subprocess.Popen(arguments, env=environment, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_it_starts_only_what_is_not_running_and_stops_only_that(environment: dict[str, str], tmp_path: Path) -> None:
    home = Path(environment["JOBCTRL_HOME"])
    with ExitStack() as stack:
        server = stack.enter_context(running_temporal(home / "temporal.db"))
        by_hand = {**environment, "TEMPORAL_ADDRESS": server.address}
        worker = stack.enter_context(
            running_by_hand([sys.executable, "manage.py", "runworker"], by_hand, tmp_path / "worker.log")
        )
        wait_until(lambda: len(list_present(home, WORKER)) == 1, what="the worker begins", seconds=60)

        with running_up(environment) as (up, lines):
            told = "\n".join(lines)
            assert STARTED_HERE.findall(told) == ["web"]
            assert read_pids(lines)[:2] == [server.process.pid, worker.pid]
            assert f"temporal: running already at {server.address} " in told
            web = read_pids(lines)[2]
            assert len(list_present(home, WORKER)) == 1

            worker.send_signal(signal.SIGTERM)
            worker.wait(60)
            wait_until(lambda: len(list_present(home, WORKER)) == 1, what="up starts a worker of its own", seconds=60)
            (own,) = list_present(home, WORKER)
            up.send_signal(signal.SIGINT)
            output, _ = up.communicate(timeout=60)
        assert f"worker: pid {worker.pid}, not started here, has ended; starting it" in output
        assert output.splitlines()[-4:] == [
            "web: stopped",
            "worker: stopped",
            f"temporal: left running (pid {server.process.pid}, not started here)",
            "Stopped.",
        ]
        assert is_process_alive(server.process.pid)
        assert not any(map(is_process_alive, (web, own.pid)))


def test_it_takes_its_own_processes_for_what_they_are(environment: dict[str, str], tmp_path: Path) -> None:
    """The worker has said nothing yet: no heartbeat, no question to Temporal, which only ``up`` starts."""
    home = Path(environment["JOBCTRL_HOME"])
    address = parse_address(f"{LOOPBACK}:{choose_quiet_port()}")
    settings = {"DJANGO_SETTINGS_MODULE": "jobctrl.settings", "JOBCTRL_WEB_ADDRESS": address.netloc}
    by_hand = {**environment, **settings}
    with (
        running_by_hand([sys.executable, "manage.py", "runworker"], environment, tmp_path / "worker.log") as worker,
        running_by_hand(list(build_web_argv(address)), by_hand, tmp_path / "web.log") as web,
    ):
        wait_until(lambda: len(list_present(home, WORKER)) == 1, what="the worker begins", seconds=60)
        wait_until(lambda: is_web_serving(address), what="the web process serves", seconds=60)
        with running_up({**environment, "JOBCTRL_WEB_ADDRESS": address.netloc}) as (up, lines):
            told = "\n".join(lines)
            assert STARTED_HERE.findall(told) == ["temporal"]
            assert read_pids(lines)[1] == worker.pid
            assert [process.pid for process in list_present(home, WORKER)] == [worker.pid]
            assert f"web: running already at {address.base_url} (pid {web.pid}, not started here" in told
            up.send_signal(signal.SIGINT)
            assert up.wait(60) == 0
        assert worker.poll() is None
        assert is_web_serving(address)
        assert not (home / ADDRESS_FILE).exists()
        (home / ADDRESS_FILE).write_text(address.netloc)
        assert choose_address(home, setting=f"{LOOPBACK}:0") == address  # the port kept for the workspace is its own

        (tmp_path / "elsewhere").mkdir()
        other = {"JOBCTRL_HOME": str(tmp_path / "elsewhere"), "JOBCTRL_WEB_ADDRESS": address.netloc}
        refused = run_up({**environment, **other})
        assert refused.returncode == 1
        assert f"wanted for the web app, is taken by pid {web.pid} " in refused.stderr


def test_a_worker_of_another_home_is_another_workspaces(environment: dict[str, str], tmp_path: Path) -> None:
    assert list_present(tmp_path, WORKER) == []
    program = (
        "import sys; from pathlib import Path; from operations.processes.presence import mark_presence\n"
        "mark_presence(Path(sys.argv[1]), 'worker'); print(flush=True); sys.stdin.read()"
    )
    home, other = tmp_path / "one", tmp_path / "two"
    home.mkdir()
    other.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", program, str(other)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        assert list_present(home, WORKER) == []
        assert [found.pid for found in list_present(other, WORKER)] == [process.pid]
        (tmp_path / "link").symlink_to(other)
        assert [found.pid for found in list_present(tmp_path / "link", WORKER)] == [process.pid]
        process.kill()
        process.wait()
        assert list_present(other, WORKER) == []
