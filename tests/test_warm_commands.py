"""The tests' own way to run commands: it ends as ``manage.py`` would, and leaves nothing behind."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.processes import is_process_alive, wait_until
from tests.warm import KILLED, WarmCommands

SLEEP = """
import os, pathlib, time
pathlib.Path({path!r}).write_text(str(os.getpid()))
time.sleep(60)
"""


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[WarmCommands]:
    made = WarmCommands({**os.environ, "JOBCTRL_HOME": str(tmp_path / "home"), "SECRET_KEY": "of-a-test"})
    yield made
    made.close()


def run(commands: WarmCommands, program: str) -> tuple[int, str, str]:
    done = commands.run("shell", "--verbosity", "0", "--command", program, seconds=60)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def test_it_gives_the_exit_code_and_what_was_printed(commands: WarmCommands) -> None:
    assert run(commands, "print('parcels')") == (0, "parcels", "")
    assert run(commands, "raise SystemExit(3)") == (3, "", "")
    assert run(commands, "raise SystemExit(-1)") == (255, "", "")
    assert run(commands, "raise SystemExit('no parcels')") == (1, "", "no parcels")
    code, _, said = run(commands, "raise KeyError('parcel')")
    assert code == 1 and said.endswith("KeyError: 'parcel'")


def test_a_command_dies_with_the_server(commands: WarmCommands, tmp_path: Path) -> None:
    """As when the tests are killed: nobody closes the server then."""
    note = tmp_path / "pid"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, commands, SLEEP.format(path=str(note)))
        wait_until(lambda: note.exists() and note.read_text() != "", what="the command runs")
        os.kill(commands._server.pid, signal.SIGKILL)
        assert running.result(30)[0] == KILLED
    wait_until(lambda: not is_process_alive(int(note.read_text())), what="the command is gone")


def test_a_command_killed_at_once_is_a_killed_one(commands: WarmCommands) -> None:
    with open(os.devnull, "wb") as nowhere:
        for _ in range(20):
            started = commands.start(
                *("shell", "--verbosity", "0", "--command", "import time; time.sleep(60)"),
                output=nowhere.fileno(),
                errors=nowhere.fileno(),
                own_session=True,
            )
            os.killpg(started.pid, signal.SIGKILL)
            assert started.wait(10) == KILLED
            started.kill()


def test_a_command_ends_as_python_does(commands: WarmCommands) -> None:
    program = (
        "import atexit, threading, time; atexit.register(print, 'at the end'); "
        "threading.Thread(target=lambda: (time.sleep(0.3), print('thread'))).start()"
    )
    assert run(commands, program) == (0, "thread\nat the end", "")
