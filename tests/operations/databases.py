"""The test database as several threads may use it.

SQLite's test database lives in memory, where locking is not that of a file: the threads get a
copy of it in a file. On PostgreSQL they use the test database itself.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from django.db import connection, connections

PATIENCE = 20.0
T = TypeVar("T")


class SharedDatabase:
    """``connect()`` is this thread's connection; ``start()`` runs something in another thread with its own."""

    def __init__(self, folder: Path) -> None:
        self.file: Path | None = None
        self._pool = ThreadPoolExecutor(8)
        if connection.vendor == "sqlite":
            self.file = folder / "shared.db"
            with connection.cursor() as cursor:
                cursor.execute("VACUUM INTO %s", [str(self.file)])
            # Several first connections at once would all try to turn the copy to WAL, which none waits for.
            with self.connect():
                connections["default"].ensure_connection()

    @contextmanager
    def connect(self) -> Iterator[None]:
        if self.file is None:
            try:
                yield
            finally:
                if threading.current_thread() is not threading.main_thread():
                    connections.close_all()
            return
        former: Any = connections["default"]
        own = type(former)({**former.settings_dict, "NAME": str(self.file)}, "default")
        connections["default"] = own
        try:
            yield
        finally:
            own.close()
            connections["default"] = former

    def start(self, function: Callable[[], T]) -> "Future[T]":
        def run() -> T:
            with self.connect():
                return function()

        return self._pool.submit(run)

    def close(self) -> None:
        self._pool.shutdown(wait=True)
