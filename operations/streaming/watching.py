"""Waiting for another process's commit, on a connection of the tailer's own thread."""

import threading
import time
from typing import Any, Final, Protocol

from django.db import connection

from operations.streaming.announcing import NOTIFY_CHANNEL

SQLITE_POLL_SECONDS: Final = 0.01
POSTGRES_STOP_SECONDS: Final = 0.25
#: PostgreSQL notifies of events only; a projection that has caught up is seen at the next look.
POSTGRES_LOOK_SECONDS: Final = 1.0


class Watch(Protocol):
    def wait(self, stop: threading.Event) -> None:
        """Return once something may have been committed since the last return, or ``stop`` is set."""


class SqliteWatch:
    """``PRAGMA data_version`` moves with every commit of another connection; a look costs microseconds."""

    def __init__(self) -> None:
        connection.ensure_connection()
        self._raw: Any = connection.connection
        self._seen = self._look()

    def wait(self, stop: threading.Event) -> None:
        while not stop.wait(SQLITE_POLL_SECONDS):
            version = self._look()
            if version != self._seen:
                self._seen = version
                return

    def _look(self) -> int:
        return int(self._raw.execute("PRAGMA data_version").fetchone()[0])


class PostgresWatch:
    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {NOTIFY_CHANNEL}")
        self._raw: Any = connection.connection

    def wait(self, stop: threading.Event) -> None:
        until = time.monotonic() + POSTGRES_LOOK_SECONDS
        while not stop.is_set() and time.monotonic() < until:
            for _ in self._raw.notifies(timeout=POSTGRES_STOP_SECONDS, stop_after=1):
                return


def open_watch() -> Watch:
    return PostgresWatch() if connection.vendor == "postgresql" else SqliteWatch()
