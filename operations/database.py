"""The one way to write and the one consistent read.

``writer()`` serialises every writer of the workspace, so that event ids commit in order and no
watermark can skip one. ``read_snapshot()`` never waits for it.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.db import InterfaceError, OperationalError, connection, transaction

WRITER_LOCK_KEY = 0x6A6F6263  # "jobc": one advisory lock for the whole database

#: The database is gone or busy: nobody's mistake, and nothing to go on from.
OUTAGES = (OperationalError, InterfaceError)


@cache
def uses_postgres() -> bool:
    """Which database this process works on does not change while it lives; asking the connection each time adds up."""
    return connection.vendor == "postgresql"


_local = threading.local()
_turn = threading.Lock()  # SQLite makes who waits for another connection sleep; threads of one process queue instead


class Write:
    """One outermost ``writer()`` block: the events appended in it, in order, and what it adds to counters."""

    def __init__(self) -> None:
        self.events: list[object] = []
        self.tallies: Counter[tuple[str, ...]] = Counter()
        self.broken = False

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Isolate one item of a batch: an exception undoes its rows and its events, and nothing else."""
        kept, was_broken, tallies = len(self.events), self.broken, self.tallies.copy()
        try:
            with transaction.atomic():
                yield
        except BaseException:
            del self.events[kept:]
            self.broken, self.tallies = was_broken, tallies
            raise


Hook = Callable[[Write], Callable[[], None] | None]
_on_end: list[Hook] = []


def before_commit(hook: Hook) -> Hook:
    """Run ``hook`` at the end of every outermost ``writer()`` with events or tallies, inside its transaction.

    The statements of all hooks are sent ``in_one_trip``: what needs their answers a hook returns, to be run then.
    """
    _on_end.append(hook)
    return hook


def current_write() -> Write | None:
    return getattr(_local, "write", None)


def require_write() -> Write:
    """The ``writer()`` we are in; a ``RuntimeError`` outside of one."""
    write = current_write()
    if write is None:
        raise RuntimeError("events and canonical rows are written inside writer() only")
    return write


@contextmanager
def writer() -> Iterator[Write]:
    """Hold the workspace's writer for one short transaction; nested blocks join the outermost one.

    An exception that leaves a nested block dooms the whole write, caught or not: half of a
    service must never be committed. Never call the network, a model or a browser inside.
    """
    current = current_write()
    if current is not None:
        try:
            yield current
        except BaseException:
            current.broken = True
            raise
        return
    write = Write()
    with _turn, transaction.atomic(durable=True):
        if uses_postgres():
            # First statement of the transaction: taken after a row lock it deadlocks.
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WRITER_LOCK_KEY])
        _local.write = write
        try:
            yield write
            if write.broken:
                raise RuntimeError("a nested writer() failed; its caller must not go on")
            if write.events or write.tallies:
                with in_one_trip():
                    remaining = [hook(write) for hook in _on_end]
                for go_on in filter(None, remaining):
                    go_on()
        finally:
            _local.write = None


@contextmanager
def in_one_trip() -> Iterator[None]:
    """PostgreSQL gets the statements of this block together and answers them together: whoever holds the writer waits
    longest for the way there and back.

    Read nothing that they answer, a ``rowcount`` neither, until the block has ended. A statement that fails raises at
    its end, at the latest, and none after it is done. SQLite, which is in this process, runs each at once.
    """
    if not uses_postgres():
        yield
        return
    postgres: Any = connection
    postgres.ensure_connection()
    with postgres.wrap_database_errors, postgres.connection.pipeline():
        yield


@contextmanager
def read_snapshot() -> Iterator[None]:
    """One consistent view of the database that neither waits for the writer nor blocks it.

    Keep it short: on SQLite an open snapshot stops the WAL from being checkpointed.
    """
    if connection.in_atomic_block:
        yield
        return
    if connection.vendor == "sqlite":
        sqlite: Any = connection  # its transaction_mode is SQLite's own
        sqlite.ensure_connection()
        mode = sqlite.transaction_mode
        sqlite.transaction_mode = "DEFERRED"
        try:
            block = transaction.atomic(durable=True)
            block.__enter__()
        finally:
            sqlite.transaction_mode = mode
        try:
            yield
        finally:
            block.__exit__(None, None, None)
        return
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
