"""One supervised process: its own session, its log file, its start and its end; and one that somebody else started."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil

from operations.processes.presence import is_alive

LAUNCHER = Path(__file__).with_name("launch.py")
POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Running:
    """The process that plays a part. ``started_at`` is ``None`` where the supervisor did not start it."""

    pid: int
    started_at: datetime | None


def find_nobody() -> psutil.Process | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A process that belongs to the product.

    ``find_running`` is asked before each start for a process that plays this part already. ``is_healthy`` is asked
    for the process that runs; an exception counts as "not yet". Both in the supervisor's thread. ``env`` is added to
    this process's environment.
    """

    name: str
    argv: tuple[str, ...]
    is_healthy: Callable[[Running], bool]
    find_running: Callable[[], psutil.Process | None] = find_nobody
    env: Mapping[str, str] = field(default_factory=dict)
    start_seconds: float = 60.0
    stop_seconds: float = 10.0
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPolicy:
    """How often a part may die before the supervisor gives up."""

    limit: int = 10
    window_seconds: float = 600.0
    first_start_limit: int = 3
    first_delay_seconds: float = 0.5
    longest_delay_seconds: float = 30.0


def decide_restart(
    deaths: Sequence[float], *, now: float, has_been_healthy: bool, policy: RestartPolicy
) -> float | None:
    """Seconds to wait before the next start, or ``None`` to give up; ``deaths`` are monotonic seconds, oldest first."""
    recent = sum(1 for death in deaths if now - death <= policy.window_seconds)
    limit = policy.limit if has_been_healthy else policy.first_start_limit
    if recent >= limit:
        return None
    return float(min(policy.first_delay_seconds * 2 ** max(recent - 1, 0), policy.longest_delay_seconds))


def build_tied_argv(argv: Sequence[str]) -> list[str]:
    """The command that runs ``argv`` so that it is killed when the calling thread ends."""
    return [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), *argv]


class Child:
    """A running (or ended) process of one part. Spawn it in a thread that outlives it: the kernel kills a child
    when the *thread* that forked it ends, not only its process."""

    def __init__(self, part: Part, *, log: Path) -> None:
        self.part = part
        self.log = log
        self.started_at = datetime.now(UTC)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError(f"{self.part.name} was not started")
        return self._process.pid

    @property
    def running(self) -> Running:
        return Running(self.pid, self.started_at)

    def spawn(self) -> None:
        self.started_at = datetime.now(UTC)
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            self._process = subprocess.Popen(
                build_tied_argv(self.part.argv),
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.part.env},
                start_new_session=True,
            )
        finally:
            os.close(descriptor)

    def find_exit(self) -> int | None:
        """The exit code once the process has ended (what it left in its group is killed), else ``None``."""
        if self._process is None:
            return None
        if self._process.returncode is None:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return None
            # Before the leader is reaped its group id cannot be anybody else's.
            self._kill_group()
        return self._process.wait()

    def stop(self, *, is_hurried: Callable[[], bool] = lambda: False) -> bool:
        """SIGTERM; SIGKILL to the whole group after ``stop_seconds`` or once hurried. True if the first was enough."""
        if self._process is None or self.find_exit() is not None:
            return True
        os.kill(self._process.pid, signal.SIGTERM)
        deadline = time.monotonic() + self.part.stop_seconds
        while time.monotonic() < deadline and not is_hurried():
            if self.find_exit() is not None:
                return True
            time.sleep(POLL_SECONDS)
        self._kill_group()
        while self.find_exit() is None:
            time.sleep(POLL_SECONDS)
        return False

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


class Guest:
    """A process that plays a part and was started by somebody else: it is watched, and left running at the end."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> Running:
        return Running(self.pid, started_at=None)

    def has_ended(self) -> bool:
        return not is_alive(self._process)
