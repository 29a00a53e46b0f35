"""What a model used is written down also where the database is busy, or was gone for a moment."""

from threading import Event

import pytest
from django.db import OperationalError, connection

from operations.database import writer
from operations.llm import threads
from operations.llm.threads import write_patiently
from operations.models import LlmSpend
from tests.operations.databases import PATIENCE, SharedDatabase
from tests.operations.spending import spend


def write_down() -> bool:
    with writer():
        spend("0.5")
    return True


def test_it_writes_after_another_connection_was_too_long_at_it(shared: SharedDatabase) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("elsewhere a writer waits as long as it takes")
    at_it, end = Event(), Event()

    def hold() -> None:
        with writer():
            at_it.set()
            end.wait(PATIENCE)

    holding = shared.start(hold)
    assert at_it.wait(PATIENCE)
    failures = []

    def write() -> bool:
        if not failures:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA busy_timeout = 10")
        try:
            return write_down()
        except OperationalError as busy:
            failures.append(busy)
            end.set()
            raise

    assert write_patiently(write)
    holding.result(PATIENCE)
    assert len(failures) == 1
    assert LlmSpend.objects.count() == 1


def test_it_writes_on_a_new_connection_where_the_old_one_was_cut(shared: SharedDatabase) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("nobody can cut SQLite's")
    tries = []

    def write() -> bool:
        tries.append(1)
        if len(tries) == 1:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return write_down()

    assert write_patiently(write)
    assert LlmSpend.objects.count() == 1


def test_it_gives_up_after_the_last_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "PAUSES", (0.0, 0.0))
    tries = []

    def write() -> bool:
        tries.append(1)
        raise OperationalError("gone")

    with pytest.raises(OperationalError, match="gone"):
        write_patiently(write)
    assert len(tries) == 3
