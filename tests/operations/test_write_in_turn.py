"""``writer()`` between real threads: one at a time, ids in commit order, readers never in the way."""

import logging
import socket
import threading
import time
from collections.abc import Callable

import psycopg
import pytest
from django.db import DataError, OperationalError, connection, transaction

from operations.database import OUTAGES, in_one_trip, read_snapshot, writer
from operations.eventlog import append, read_after
from operations.events import PipelineStepCompleted, PipelineStepStarted, SettingsChanged
from operations.folding.engine import list_flagged_apps, read_stream_watermark
from operations.metrics import record_attempt
from operations.models import JobEventRow, OperationalAttemptMetric, PipelineStepProjection, StoredSetting
from tests.operations.databases import PATIENCE, SharedDatabase

ON_POSTGRES = pytest.mark.skipif("sqlite" in str(connection.vendor), reason="SQLite is in this process: no trips")


def note(actor: str) -> None:
    append(SettingsChanged(keys=("min_fit_score",), actor=actor))


def list_actors() -> list[str]:
    return [event.payload["actor"] for event in read_after(0) if event.type == "SettingsChanged"]


def test_it_lets_a_second_writer_in_only_after_the_first_has_committed(shared: SharedDatabase) -> None:
    first_is_in, first_may_end, second_tries, second_is_in = (threading.Event() for _ in range(4))

    def hold_first() -> None:
        with writer():
            note("first")
            first_is_in.set()
            assert first_may_end.wait(PATIENCE)

    def enter_second() -> list[str]:
        assert first_is_in.wait(PATIENCE)
        second_tries.set()
        with writer():
            second_is_in.set()
            note("second")
            return list_actors()

    first, second = shared.start(hold_first), shared.start(enter_second)
    assert second_tries.wait(PATIENCE)
    assert not second_is_in.wait(0.3), "two writers were in at once"
    assert list_actors() == []
    assert read_stream_watermark() == 0
    first_may_end.set()
    first.result(PATIENCE)

    assert second.result(PATIENCE) == ["first", "second"]
    assert list_actors() == ["first", "second"]
    assert read_stream_watermark() == read_after(0)[-1].id


def test_it_never_lets_a_watermark_pass_a_row_that_commits_later(shared: SharedDatabase) -> None:
    writers, rounds = 4, 8
    barrier, ended = threading.Barrier(writers + 1), threading.Event()

    def write_rounds(name: str) -> None:
        barrier.wait(PATIENCE)
        for _ in range(rounds):
            with writer():
                note(name)
                time.sleep(0.001)
                note(name)

    def watch() -> list[str]:
        seen: set[int] = set()
        faults = []
        barrier.wait(PATIENCE)
        last_look = False
        while not last_look:
            last_look = ended.is_set()
            mark = read_stream_watermark()
            ids = set(JobEventRow.objects.values_list("id", flat=True))
            late = {i for i in ids - seen if seen and i < max(seen)}
            if late:
                faults.append(f"{late} became visible after {max(seen)}")
            if mark and mark not in ids:
                faults.append(f"the watermark {mark} passed an uncommitted row")
            seen = ids
        return faults

    watching = shared.start(watch)
    work = [shared.start(lambda name=f"w{n}": write_rounds(name)) for n in range(writers)]  # type: ignore[misc]
    try:
        for future in work:
            future.result(PATIENCE)
    finally:
        ended.set()

    assert watching.result(PATIENCE) == []
    actors = list_actors()
    assert len(actors) == writers * rounds * 2
    assert actors[0::2] == actors[1::2], "the events of two transactions are interleaved"


def test_it_shows_a_reader_one_consistent_state_without_waiting_for_the_writer(shared: SharedDatabase) -> None:
    with writer():
        note("before")
    writer_is_in, may_commit = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with writer():
            note("during")
            StoredSetting.objects.create(key="min_fit_score", value=8)
            writer_is_in.set()
            assert may_commit.wait(PATIENCE)

    writing = shared.start(write_slowly)
    assert writer_is_in.wait(PATIENCE)
    started = time.monotonic()
    with read_snapshot():
        assert list_actors() == ["before"]
        may_commit.set()
        writing.result(PATIENCE)
        assert list_actors() == ["before"]
        assert not StoredSetting.objects.exists()
    assert time.monotonic() - started < 5
    with read_snapshot():
        assert list_actors() == ["before", "during"]
        assert StoredSetting.objects.get().value == 8


def test_it_goes_on_writing_after_a_snapshot_was_left_by_an_exception(shared: SharedDatabase) -> None:
    with pytest.raises(LookupError), read_snapshot():
        list_actors()
        raise LookupError
    with writer():
        note("after")
    assert list_actors() == ["after"]


def test_it_makes_a_nested_writer_part_of_the_outermost(db: None) -> None:
    with writer() as outer:
        note("outer")
        with writer() as inner:
            note("inner")
        assert inner is outer
        assert read_stream_watermark() == 0, "nothing is folded before the outermost block ends"
    assert list_actors() == ["outer", "inner"]
    assert read_stream_watermark() == read_after(0)[-1].id


def test_it_dooms_the_whole_when_a_nested_writer_failed_and_was_caught(db: None) -> None:
    with pytest.raises(RuntimeError, match="nested writer"), writer():
        note("outer")
        try:
            with writer():
                note("half of a service")
                raise LookupError
        except LookupError:
            pass
    assert list_actors() == []


def test_it_undoes_one_item_of_a_batch_with_its_rows_and_events(
    db: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    def save_item(name: str, *, broken: bool) -> None:
        with writer():
            note(name)
            append(PipelineStepStarted(workflow_id="w", run_id="run-a", kind="pdf_render", item_key=name))
            record_attempt(stage="score", attempt_kind="stage", outcome=name)
            if broken:
                raise LookupError

    with writer() as write:
        save_item("one", broken=False)
        with pytest.raises(LookupError), write.savepoint():
            save_item("two", broken=True)
        with write.savepoint():
            save_item("three", broken=False)

    assert list_actors() == ["one", "three"]
    assert set(PipelineStepProjection.objects.values_list("item_key", flat=True)) == {"one", "three"}
    assert list(OperationalAttemptMetric.objects.order_by("id").values_list("outcome", flat=True)) == ["one", "three"]
    assert read_stream_watermark() == read_after(0)[-1].id
    assert_rebuild_matches()


def test_it_keeps_a_write_doomed_that_was_broken_before_a_savepoint(db: None) -> None:
    with pytest.raises(RuntimeError, match="nested writer"), writer() as write:
        try:
            with writer():
                raise LookupError
        except LookupError:
            pass
        with pytest.raises(LookupError), write.savepoint():
            raise LookupError
    assert list_actors() == []


def test_it_refuses_events_and_metrics_outside_of_a_writer(db: None) -> None:
    with pytest.raises(RuntimeError, match="inside writer"):
        note("nobody")
    with pytest.raises(RuntimeError, match="inside writer"):
        record_attempt(stage="score", attempt_kind="stage", outcome="failed")
    assert list_actors() == []


def test_it_is_free_again_after_a_write_that_failed(db: None) -> None:
    with pytest.raises(LookupError), writer():
        note("lost")
        raise LookupError
    with writer():
        note("kept")
    assert list_actors() == ["kept"]


def test_it_catches_a_network_call_made_while_the_writer_is_held(db: None) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        address = listening.getsockname()
        with pytest.raises(AssertionError, match="inside writer"), writer():
            socket.create_connection(address)
        socket.create_connection(address).close()


@ON_POSTGRES
def test_it_holds_the_writer_for_few_trips_to_the_server(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with writer():
        append(PipelineStepStarted(workflow_id="w", run_id="run-a", kind="pdf_render", item_key="one"))
    alone: list[str] = []
    together: list[psycopg.Pipeline] = []

    def listen(execute: Callable[..., object], statement: str, *rest: object) -> object:
        assert connection.connection is not None
        if not connection.connection.pgconn.pipeline_status:
            alone.append(statement.split()[0])
        return execute(statement, *rest)

    enter = psycopg.Pipeline.__enter__
    monkeypatch.setattr(psycopg.Pipeline, "__enter__", lambda self: together.append(self) or enter(self))
    with connection.execute_wrapper(listen), writer():
        append(PipelineStepCompleted(workflow_id="w", run_id="run-a", kind="pdf_render", item_key="one", counts={}))
        note("somebody")

    # The test has a transaction of its own: a savepoint stands for that of the writer.
    assert alone == ["SAVEPOINT", "SELECT", "INSERT", "INSERT", "RELEASE"], "the lock and what is appended"
    assert len(together) == 3, "marks and notice; the savepoint with the reads; the rows"
    assert list_actors() == ["somebody"]


@ON_POSTGRES
def test_a_trip_that_fails_says_why_and_does_nothing_more(db: None) -> None:
    with pytest.raises(DataError), transaction.atomic(), in_one_trip(), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")
        cursor.execute("DELETE FROM projection_watermarks")
    with writer():
        note("goes on")

    assert list_actors() == ["goes on"]


@ON_POSTGRES
@pytest.mark.parametrize("statement", ["SELECT pg_advisory", "NOTIFY", "SAVEPOINT", "INSERT INTO pipeline_step"])
def test_it_loses_the_whole_write_and_nothing_else_when_a_trip_is_cut_off(
    statement: str, shared: SharedDatabase
) -> None:
    def cut_off(execute: Callable[..., object], sent: str, *rest: object) -> object:
        if sent.startswith(statement):
            own = connection.connection.info  # type: ignore[union-attr]
            with psycopg.connect(own.dsn, password=own.password, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [own.backend_pid])
        return execute(sent, *rest)

    def append_step(name: str) -> None:
        with writer():
            append(PipelineStepStarted(workflow_id="w", run_id="run-a", kind="pdf_render", item_key=name))

    def write_three() -> list[str]:
        append_step("one")
        with pytest.raises(OUTAGES), connection.execute_wrapper(cut_off):
            append_step("two")
        connection.close_if_unusable_or_obsolete()
        append_step("three")
        return list(PipelineStepProjection.objects.order_by("item_key").values_list("item_key", flat=True))

    assert shared.start(write_three).result(PATIENCE) == ["one", "three"]
    logged = read_after(0)
    assert [event.payload["itemKey"] for event in logged] == ["one", "three"]
    assert read_stream_watermark() == logged[-1].id


@ON_POSTGRES
def test_a_trip_that_fails_twice_keeps_what_the_server_says_out_of_the_log(
    db: None, caplog: pytest.LogCaptureFixture
) -> None:
    def fail_twice() -> None:
        with in_one_trip(), connection.cursor() as cursor:
            cursor.execute("SELECT %s::int", ["what a posting says"])
            raise LookupError

    with caplog.at_level(logging.DEBUG), pytest.raises(LookupError), transaction.atomic():
        fail_twice()
    assert "posting" not in caplog.text


@ON_POSTGRES
def test_it_loses_the_whole_write_and_flags_nobody_where_a_projection_is_locked(shared: SharedDatabase) -> None:
    with writer():
        append(PipelineStepStarted(workflow_id="w", run_id="run-a", kind="pdf_render", item_key="one"))

    def write_impatiently() -> None:
        with pytest.raises(OperationalError), writer():
            append(PipelineStepStarted(workflow_id="w", run_id="run-a", kind="pdf_render", item_key="two"))
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE pipeline_step_projections IN ACCESS EXCLUSIVE MODE")
        shared.start(write_impatiently).result(PATIENCE)
    with writer():
        append(PipelineStepStarted(workflow_id="w", run_id="run-a", kind="pdf_render", item_key="three"))

    assert [event.payload["itemKey"] for event in read_after(0)] == ["one", "three"]
    assert list_flagged_apps() == []
    assert PipelineStepProjection.objects.count() == 2
