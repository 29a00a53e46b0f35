"""The tests' own way to run the product's processes: each ends as Python would, and leaves nothing behind."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.processes import is_process_alive, wait_until
from tests.warm import KILLED, WarmServer

SLEEP = """
import os, pathlib, time
pathlib.Path({path!r}).write_text(str(os.getpid()))
time.sleep(60)
"""
SEE = """
import json, logging
from django.conf import settings
from django.db import connections
seen = [settings.SECRET_KEY, str(connections["default"].settings_dict["NAME"]), logging.getLogger().level]
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def warm() -> Iterator[WarmServer]:
    made = WarmServer()
    yield made
    made.close()


@pytest.fixture
def dying() -> Iterator[WarmServer]:
    """One that its test ends."""
    made = WarmServer()
    yield made
    made.close()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "JOBCTRL_HOME": str(tmp_path / "home"), "SECRET_KEY": "of-a-test"}


def run(warm: WarmServer, environment: dict[str, str], program: str) -> tuple[int, str, str]:
    done = warm.run("-c", program, environment=environment, seconds=60)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def test_it_gives_the_exit_code_and_what_was_printed(warm: WarmServer, environment: dict[str, str]) -> None:
    assert run(warm, environment, "print('parcels')") == (0, "parcels", "")
    assert run(warm, environment, "raise SystemExit(3)") == (3, "", "")
    assert run(warm, environment, "raise SystemExit(-1)") == (255, "", "")
    assert run(warm, environment, "raise SystemExit('no parcels')") == (1, "", "no parcels")
    assert run(warm, environment, "raise SystemExit(['parcel'])") == (1, "", "['parcel']")
    code, _, said = run(warm, environment, "raise KeyError('parcel')")
    assert code == 1 and said.endswith("KeyError: 'parcel'")
    done = warm.run("manage.py", "no_such_command", environment=environment, seconds=60)
    assert done.returncode == 1 and "no_such_command" in done.stderr


def test_each_process_has_the_settings_of_its_own_environment(
    warm: WarmServer, environment: dict[str, str], tmp_path: Path
) -> None:
    for number, level in ((1, "ERROR"), (2, "DEBUG")):
        database = tmp_path / f"{number}.db"
        own = {"SECRET_KEY": f"key {number}", "DATABASE_URL": f"sqlite:///{database}", "LOG_LEVEL": level}
        code, said, _ = run(warm, environment | own, SEE)
        assert code == 0
        assert json.loads(said) == [f"key {number}", str(database), {"ERROR": 40, "DEBUG": 10}[level]]


def test_it_says_why_settings_cannot_be_read(warm: WarmServer, environment: dict[str, str]) -> None:
    done = warm.run("manage.py", "check", environment={"JOBCTRL_HOME": "/proc/x"}, seconds=60)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("CommandError: JOBCTRL_HOME /proc/x cannot be written")
    with pytest.raises(ValueError, match="only 5 can be had here"):
        warm.run("-c", "", environment=environment | {"JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS": "20"}, seconds=60)


def test_a_request_that_cannot_be_sent_leaves_nothing(warm: WarmServer, environment: dict[str, str]) -> None:
    before = list_children(warm.pid)
    with pytest.raises(OSError, match="Bad file descriptor"), open(os.devnull, "wb") as output:
        warm.start("-c", "", environment=environment, output=output.fileno(), errors=999_999)
    wait_until(lambda: list_children(warm.pid) == before, what="the child that heard nothing has ended")


def list_children(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children()]


def test_it_kills_what_takes_too_long(warm: WarmServer, environment: dict[str, str], tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with pytest.raises(subprocess.TimeoutExpired):
        warm.run("-c", SLEEP.format(path=str(note)), environment=environment, seconds=3)
    assert not is_process_alive(int(note.read_text()))


def test_a_process_dies_with_the_server(dying: WarmServer, environment: dict[str, str], tmp_path: Path) -> None:
    """As when the tests are killed: nobody closes the server then."""
    note = tmp_path / "pid"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, dying, environment, SLEEP.format(path=str(note)))
        wait_until(lambda: note.exists() and note.read_text() != "", what="the process runs")
        os.kill(dying.pid, signal.SIGKILL)
        assert running.result(30)[0] == KILLED
    wait_until(lambda: not is_process_alive(int(note.read_text())), what="the process is gone")


def test_what_a_process_started_dies_when_the_server_is_closed(dying: WarmServer, environment: dict[str, str]) -> None:
    program = "import subprocess; print(subprocess.Popen(['sleep', '60']).pid)"
    started = int(run(dying, environment, program)[1])
    assert is_process_alive(started)
    dying.close()
    wait_until(lambda: not is_process_alive(started), what="the sleeper is gone")


def test_the_server_ends_with_whoever_started_it(dying: WarmServer) -> None:
    assert dying._server.stdin is not None
    dying._server.stdin.close()
    wait_until(lambda: not is_process_alive(dying.pid), what="the server is gone")
    assert not Path(dying._folder.name).exists()


def test_a_process_killed_at_once_is_a_killed_one(warm: WarmServer, environment: dict[str, str]) -> None:
    with open(os.devnull, "wb") as nowhere:
        for _ in range(20):
            started = warm.start(
                *("-c", "import time; time.sleep(60)"),
                environment=environment,
                output=nowhere.fileno(),
                errors=nowhere.fileno(),
                own_session=True,
            )
            os.killpg(started.pid, signal.SIGKILL)
            assert started.wait(10) == KILLED
            started.kill()


def test_a_process_ends_as_python_does(warm: WarmServer, environment: dict[str, str]) -> None:
    program = (
        "import atexit, threading, time; atexit.register(print, 'at the end'); "
        "threading.Thread(target=lambda: (time.sleep(0.3), print('thread'))).start()"
    )
    assert run(warm, environment, program) == (0, "thread\nat the end", "")
