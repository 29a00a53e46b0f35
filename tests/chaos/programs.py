"""The programs of one workspace, each killed and started again from outside, and when each of them lived."""

import contextlib
import os
import signal
import time
from dataclasses import dataclass, field

from tests.processes import choose_quiet_port
from tests.temporal import TemporalServer, start_temporal
from tests.warm import WarmProcess, get_warm
from tests.worker.workspace import Workspace

WEB = "web"
WEB_SECONDS = 60.0


@dataclass(slots=True)
class Life:
    """One process from its start to its SIGKILL, on the monotonic clock; ``ended`` is ``None`` while it lives."""

    name: str
    pid: int
    began: float
    ended: float | None = None

    def overlaps(self, since: float, until: float) -> bool:
        return self.began <= until and (self.ended is None or self.ended >= since)


@dataclass(slots=True)
class Programs:
    """Worker and web processes, and a Temporal server of their own; nothing here starts a dead one by itself."""

    workspace: Workspace
    workers: int = 1
    temporal: TemporalServer | None = None
    processes: dict[str, WarmProcess] = field(default_factory=dict)
    lives: list[Life] = field(default_factory=list)
    web_port: int = 0

    def list_workers(self) -> list[str]:
        return [f"worker-{number}" for number in range(self.workers)]

    def start(self) -> None:
        self.start_temporal()
        self.web_port = choose_quiet_port()
        self.spawn(WEB)
        self.start_workers()

    def start_temporal(self) -> None:
        self.temporal = start_temporal(self.workspace.home / "temporal.db")
        self.workspace.temporal_address, self.workspace.namespace = self.temporal.address, "default"

    def start_workers(self) -> None:
        """Those of them that have not been started."""
        for name in self.list_workers():
            if name not in self.processes:
                self.spawn(name)
        self.wait_for_workers()

    def spawn(self, name: str) -> None:
        argv: tuple[str, ...] = ("manage.py", "runworker")
        if name == WEB:
            argv = ("-m", "daphne", "-b", "127.0.0.1", "-p", str(self.web_port), "jobctrl.asgi:application")
        with self.workspace.worker_log.open("ab") as log:
            process = get_warm().start(
                *argv,
                environment=self.workspace.build_environment() | {"LOG_LEVEL": "WARNING"},
                output=log.fileno(),
                errors=log.fileno(),
                own_session=True,
            )
        self.processes[name] = process
        self.lives.append(Life(name, process.pid, time.monotonic()))

    def kill(self, name: str) -> None:
        """SIGKILL to one process alone, as the kernel's out-of-memory killer sends it."""
        process = self.processes[name]
        process.kill()
        process.wait()
        life = next(life for life in reversed(self.lives) if life.pid == process.pid)
        life.ended = time.monotonic()

    def kill_temporal(self) -> None:
        assert self.temporal is not None
        self.temporal.kill()

    def start_temporal_again(self) -> None:
        """On the same file and port."""
        assert self.temporal is not None
        self.temporal = start_temporal(self.workspace.home / "temporal.db", port=self.temporal.port)

    def wait_for_workers(self, *, seconds: float = 120.0) -> None:
        """Until each of them has said that it lives."""
        wanted = {self.processes[name].pid for name in self.list_workers()}
        self.workspace.wait_until(
            lambda: wanted <= set(self.workspace.list_living_workers()),
            what="every worker's heartbeat",
            seconds=seconds,
        )

    def list_worker_lives(self, since: float, until: float) -> list[Life]:
        """The workers that lived at some moment between the two."""
        return [life for life in self.lives if life.name != WEB and life.overlaps(since, until)]

    def stop(self) -> None:
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.temporal is not None:
            self.temporal.kill()
