"""What tests ask of processes: whether one is left, and the small programs that stand in for the product's parts."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import SystemRandom
from typing import Any

from operations.processes.children import Part, Running
from operations.processes.ports import is_port_free

WAIT_SECONDS = 15.0

_chance = SystemRandom()  # pytest-randomly gives every process the same seed


def is_process_alive(pid: int) -> bool:
    """A zombie that nobody reaped yet counts as dead."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def list_processes_in(home: Path) -> list[str]:
    """The command lines of whatever still runs with this workspace as its own, or names it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        except OSError:
            continue  # it has ended, or is another user's
        if f"JOBCTRL_HOME={home}".encode() in environment.split(b"\0") or str(home).encode() in command:
            found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found


def choose_quiet_port() -> int:
    """A free port below those that the system hands out by itself, so that no other test's connection takes it before
    whoever is to listen there has begun."""
    return next(port for port in iter(lambda: _chance.randrange(20_000, 30_000), None) if is_port_free(port))


def wait_until(claim: Callable[[], bool], *, what: str, seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if claim():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds:g} s: {what}")


def build_dummy_part(name: str, program: str, **settings: Any) -> Part:
    """A part that runs ``program`` (Python source) and counts as healthy at once."""
    settings.setdefault("is_healthy", say_healthy)
    return Part(name=name, argv=(sys.executable, "-I", "-S", "-c", program), **settings)


def say_healthy(_running: Running) -> bool:
    return True
