"""The children's log files: rotated when ``up`` starts, followed on the terminal when it is asked to be verbose."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

KEPT_LOGS = 5
TAIL_BYTES = 8192
FOLLOW_SECONDS = 0.2


def rotate_log(log: Path, *, kept: int = KEPT_LOGS) -> None:
    """Move ``worker.log`` to ``worker.log.1`` and so on; the oldest beyond ``kept`` is dropped."""
    if not log.exists():
        return
    for number in range(kept, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        newer = log.with_name(f"{log.name}.{number - 1}") if number > 1 else log
        if newer.exists():
            newer.replace(older)


def read_log_tail(log: Path, *, lines: int = 15) -> str:
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - TAIL_BYTES))
            text = stream.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


class LogFollower:
    """Prints what is appended to log files, each line led by the name of its part."""

    def __init__(self, logs: dict[str, Path], *, print_line: Callable[[str], None]) -> None:
        self._logs = logs
        self._print_line = print_line
        self._width = max((len(name) for name in logs), default=0)
        self._rest = dict.fromkeys(logs, b"")
        self._offsets = dict.fromkeys(logs, 0)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="log-follower", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._stopped.wait(FOLLOW_SECONDS):
            self._print_new_lines()
        self._print_new_lines()

    def _print_new_lines(self) -> None:
        for name, log in self._logs.items():
            try:
                with log.open("rb") as stream:
                    stream.seek(self._offsets[name], os.SEEK_SET)
                    fresh = stream.read()
            except FileNotFoundError:
                continue
            self._offsets[name] += len(fresh)
            *lines, self._rest[name] = (self._rest[name] + fresh).split(b"\n")
            for line in lines:
                self._print_line(f"{name:<{self._width}} | {line.decode(errors='replace')}")
