"""Starts the parts of the product that do not run yet in order, keeps them running, stops them in reverse order."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from jobctrl.home import Home
from operations.processes.children import Child, Guest, Part, RestartPolicy, Running, decide_restart
from operations.processes.interrupts import wait_for
from operations.processes.log_files import LogFollower, read_log_tail, rotate_log

TICK_SECONDS = 0.1


class SupervisorError(RuntimeError):
    """The parts cannot be kept running."""


class PartFailed(SupervisorError):
    """One part did not become healthy, or kept dying."""


@dataclass(slots=True)
class _Watched:
    """A part and the process that plays it: ``guest`` where somebody else started that, else ``child``."""

    child: Child
    guest: Guest | None = None
    is_healthy: bool = False
    has_been_healthy: bool = False
    started: float = 0.0
    restart_at: float | None = None
    deaths: list[float] = field(default_factory=list)
    last_problem: str = ""

    @property
    def part(self) -> Part:
        return self.child.part

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def running(self) -> Running:
        return self.guest.running if self.guest else self.child.running

    @property
    def whereabouts(self) -> str:
        """The end of the sentence that says that it runs."""
        where = f" {self.part.detail}" if self.part.detail else ""
        if self.guest:
            return f"running already{where} (pid {self.guest.pid}, not started here: it is left running at the end)"
        return f"running{where} (pid {self.child.pid}, log {self.child.log})"


class Supervisor:
    """A context manager: inside it every part is running and was healthy once.

    ``parts`` are started in the order given (each healthy before the next) and stopped in reverse. One thread spawns
    and watches them all, because a child is killed by the kernel when the thread that forked it ends; ``announce``
    is called there. A part that runs already is watched like the others, never stopped, and started once it has ended.
    """

    def __init__(
        self,
        home: Home,
        parts: Sequence[Part],
        *,
        announce: Callable[[str], None],
        verbose: bool = False,
        policy: RestartPolicy | None = None,
    ) -> None:
        self._watched = [_Watched(Child(part, log=home.logs / f"{part.name}.log")) for part in parts]
        self._announce = announce
        self._verbose = verbose
        self._policy = policy or RestartPolicy()
        self._is_stopping = False
        self._is_hurried = False
        self._failure: Exception | None = None
        self._settled = threading.Event()
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._supervise, name="supervisor", daemon=True)

    def __enter__(self) -> Self:
        for watched in self._watched:
            rotate_log(watched.child.log)
        try:
            self._thread.start()
            wait_for(self._settled)
        except BaseException:
            self.stop()
            raise
        if self._failure is not None:
            self.stop()
            raise self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pids(self) -> dict[str, int]:
        return {watched.name: watched.running.pid for watched in self._watched}

    def wait(self) -> None:
        """Block until the parts are stopped.

        Raises:
            SupervisorError: a part kept dying; the others were stopped.
        """
        wait_for(self._finished)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Stop every part, last started first; a Ctrl-C meanwhile kills what is left. Safe to repeat."""
        self._is_stopping = True
        if self._thread.ident is None:
            return
        # Not Thread.join: interrupted by Ctrl-C, CPython 3.11 takes the thread for ended.
        while not self._finished.is_set():
            try:
                self._finished.wait()
            except KeyboardInterrupt:
                self._is_hurried = True

    def _supervise(self) -> None:
        follower = self._follow_logs() if self._verbose else None
        begun: list[_Watched] = []
        try:
            self._keep_running(begun)
        except Exception as error:
            self._failure = error
        finally:
            try:
                for watched in reversed(begun):
                    self._stop_part(watched)
                if follower:
                    follower.stop()
            finally:
                self._settled.set()
                self._finished.set()

    def _keep_running(self, begun: list[_Watched]) -> None:
        for watched in self._watched:
            begun.append(watched)
            self._start(watched)
            while not watched.has_been_healthy:
                if self._is_stopping:
                    return
                self._tick(begun)
        self._settled.set()
        while not self._is_stopping:
            self._tick(begun)

    def _tick(self, begun: Sequence[_Watched]) -> None:
        for watched in begun:
            self._look_after(watched, now=time.monotonic())
        time.sleep(TICK_SECONDS)

    def _look_after(self, watched: _Watched, *, now: float) -> None:
        if watched.restart_at is not None:
            if now >= watched.restart_at:
                self._start(watched)
        elif watched.guest and watched.guest.has_ended():
            self._say(f"{watched.name}: pid {watched.guest.pid}, not started here, has ended; starting it")
            self._start(watched)
        elif not watched.guest and (code := watched.child.find_exit()) is not None:
            self._plan_restart(watched, reason=f"ended with exit code {code}", now=now)
        elif not watched.is_healthy:
            self._await_health(watched, now=now)

    def _start(self, watched: _Watched) -> None:
        watched.is_healthy = False
        watched.restart_at = None
        watched.started = time.monotonic()
        found = watched.part.find_running()
        if not found:
            watched.child.spawn()
        watched.guest = Guest(found) if found else None

    def _await_health(self, watched: _Watched, *, now: float) -> None:
        if self._probe(watched):
            watched.is_healthy = watched.has_been_healthy = True
            self._say(f"{watched.name}: {watched.whereabouts}")
            return
        if now - watched.started < watched.part.start_seconds:
            return
        problem = f" ({watched.last_problem})" if watched.last_problem else ""
        reason = f"was not healthy after {watched.part.start_seconds:g} s{problem}"
        if watched.guest:
            self._give_up_on_guest(watched, watched.guest, reason)
            return
        if not watched.has_been_healthy:
            raise self._describe_failure(watched, reason)
        watched.child.stop(is_hurried=lambda: self._is_stopping)
        self._plan_restart(watched, reason=reason, now=now)

    def _give_up_on_guest(self, watched: _Watched, guest: Guest, reason: str) -> None:
        """What was not started here is not stopped here either: before everything runs that is a refusal, and later a
        line each time."""
        told = f"{watched.name}: pid {guest.pid}, not started here, {reason}. Stop it: another is started in its place"
        if not watched.has_been_healthy:
            raise PartFailed(f"{told} by the next start.")
        watched.started = time.monotonic()
        self._say(f"{told}.")

    def _probe(self, watched: _Watched) -> bool:
        watched.last_problem = ""
        try:
            return watched.part.is_healthy(watched.running)
        except Exception as error:
            watched.last_problem = f"{type(error).__name__}: {error}"[:300]
            return False

    def _plan_restart(self, watched: _Watched, *, reason: str, now: float) -> None:
        watched.is_healthy = False
        watched.deaths.append(now)
        delay = decide_restart(watched.deaths, now=now, has_been_healthy=watched.has_been_healthy, policy=self._policy)
        if delay is None:
            raise self._describe_failure(watched, f"{reason}, {len(watched.deaths)} times in all")
        watched.restart_at = now + delay
        self._say(f"{watched.name}: {reason}; starting it again in {delay:g} s (log {watched.child.log})")

    def _describe_failure(self, watched: _Watched, reason: str) -> PartFailed:
        tail = read_log_tail(watched.child.log)
        shown = f"\nThe last lines of {watched.child.log}:\n{tail}" if tail else f" Its log: {watched.child.log}"
        return PartFailed(f"{watched.name} {reason}.{shown}")

    def _stop_part(self, watched: _Watched) -> None:
        if watched.guest:
            if not watched.guest.has_ended():
                self._say(f"{watched.name}: left running (pid {watched.guest.pid}, not started here)")
            return
        was_running = watched.restart_at is None and watched.child.find_exit() is None
        ended_itself = watched.child.stop(is_hurried=lambda: self._is_hurried)
        if was_running:
            self._say(f"{watched.name}: stopped" if ended_itself else f"{watched.name}: killed, it did not stop")

    def _say(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a closed terminal must not stop the supervision
            self._announce(line)

    def _follow_logs(self) -> LogFollower:
        follower = LogFollower({w.name: w.child.log for w in self._watched}, print_line=self._say)
        follower.start()
        return follower
