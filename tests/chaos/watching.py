"""A monitor that asks the web process all the time whether workers live, and knows better."""

import http.client
import threading
import time
from dataclasses import dataclass, field
from urllib.error import HTTPError

from operations.contracts import HEARTBEAT_FRESH_SECONDS
from tests.chaos.asking import Web
from tests.chaos.programs import Programs

EVERY_SECONDS = 1.0
#: The clocks are the same machine's; this is what rounding may take.
SLACK_SECONDS = 0.5


@dataclass(slots=True)
class Watch:
    """``faults`` holds every claim that a worker lives more than 45 s after its SIGKILL, and every health but a 200."""

    programs: Programs
    web: Web
    answers: int = 0
    said_gone: int = 0
    faults: list[str] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._repeat, name="watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _repeat(self) -> None:
        while not self._stopping.wait(EVERY_SECONDS):
            try:
                self._ask()
            except HTTPError as error:
                self.faults.append(f"{error.url} answered {error.code}")
            except (OSError, http.client.HTTPException):
                continue  # the web process is down, or went down in the middle of its answer

    def _ask(self) -> None:
        asked = time.monotonic()
        health = self.web.read_json("/v1/health")
        counted = int(self.web.read_metric("jobctrl_workers"))
        since = asked - HEARTBEAT_FRESH_SECONDS - SLACK_SECONDS
        possible = len(self.programs.list_worker_lives(since, time.monotonic()))
        self.answers += 1
        if health["worker"]["state"] != "alive":
            self.said_gone += 1
        elif not possible:
            self.faults.append("health calls a worker alive more than 45 s after the last one was killed")
        if counted > possible:
            self.faults.append(f"metrics count {counted} workers where at most {possible} have lived within 45 s")
