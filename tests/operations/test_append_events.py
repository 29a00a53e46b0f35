"""Appending: exact keys, bounded payloads, markers, and guards that no statement gets round."""

import json
from collections.abc import Callable
from io import StringIO
from uuid import uuid4

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from discovery.events import JobDiscovered
from operations.contracts import StageName
from operations.database import writer
from operations.errors import NotConfigured
from operations.eventlog import Event, UnknownEvent, append, append_marker, read_after, read_head
from operations.eventlog.guards import install_guards, lift_guards, list_missing_guards, refuse_unprotected_log
from operations.eventlog.registry import LIST_LIMIT, TEXT_LIMIT
from operations.events import PipelineStepCompleted, SettingsChanged, StageFailed
from operations.folding.engine import read_stream_watermark
from operations.models import JobDetailProjection, JobEventRow, JobListProjection
from tests.operations.cast import Cast


def note(actor: str = "operator", key: str | None = None) -> object:
    with writer():
        return append(SettingsChanged(keys=(), actor=actor), key=key)


# --- exact keys --------------------------------------------------------------------------------


def test_it_does_nothing_for_a_key_that_was_used_before(db: None, assert_rebuild_matches: Callable[[], None]) -> None:
    assert note("first", key="run:1:started") is not None
    assert note("again", key="run:1:started") is None
    assert note("other", key="run:2:started") is not None

    assert [event.payload["actor"] for event in read_after(0)] == ["first", "other"]
    assert read_stream_watermark() == read_after(0)[-1].id
    assert_rebuild_matches()


def test_it_appends_unkeyed_events_as_often_as_they_happen(db: None) -> None:
    note("same")
    note("same")
    assert len(read_after(0)) == 2


def test_it_may_use_a_key_again_after_its_event_was_rolled_back(db: None) -> None:
    with pytest.raises(LookupError), writer():
        append(SettingsChanged(keys=(), actor="lost"), key="run:1:end")
        raise LookupError
    assert note("kept", key="run:1:end") is not None


# --- bounds ------------------------------------------------------------------------------------


def test_it_refuses_a_text_that_no_payload_may_hold(db: None) -> None:
    fits = StageFailed(
        job_id=uuid4(), stage="score", attempt=1, error_code="X", message="x" * TEXT_LIMIT, retryable=True
    )
    with writer():
        append(fits)
    with pytest.raises(ValueError, match=f"actor holds {TEXT_LIMIT + 1} characters"):
        note("x" * (TEXT_LIMIT + 1))
    assert len(read_after(0)) == 1


@pytest.mark.parametrize(
    "event",
    [
        SettingsChanged(keys=tuple(map(str, range(LIST_LIMIT + 1))), actor="a"),
        SettingsChanged(keys=("x" * (TEXT_LIMIT + 1),), actor="a"),
        PipelineStepCompleted(
            workflow_id="w", run_id="r", kind="pdf_render", counts={str(n): n for n in range(LIST_LIMIT + 1)}
        ),
    ],
    ids=["list", "text in a list", "mapping"],
)
def test_it_refuses_lists_and_mappings_without_a_bound(event: Event, db: None) -> None:
    with pytest.raises(ValueError, match=r"the limit is"), writer():
        append(event)
    assert read_head() == 0


def test_it_refuses_what_is_not_json_and_what_is_not_registered(db: None) -> None:
    with pytest.raises(ValueError, match="actor holds a object, which is not JSON"), writer():
        append(SettingsChanged(keys=(), actor=object()))  # type: ignore[arg-type]
    with pytest.raises(UnknownEvent), writer():
        append(Event())


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_it_refuses_a_number_that_json_cannot_hold(number: float, db: None) -> None:
    with pytest.raises(ValueError, match="not JSON"), writer():
        append(PipelineStepCompleted(workflow_id="w", run_id="r", kind="pdf_render", counts={"pages": number}))  # type: ignore[dict-item]


def test_it_reads_an_event_back_as_it_was_appended(db: None) -> None:
    job_id = uuid4()
    with writer():
        logged = append(
            JobDiscovered(
                job_id=job_id,
                title="Ingénieur·e données 数据",
                company='Harbour "Analytics"',
                location="",
                work_mode="remote",
                salary="",
                source="greenhouse:harbour",
                url="",
            )
        )
    assert read_after(0) == [logged]
    assert logged is not None and logged.job_id == job_id and logged.payload["title"] == "Ingénieur·e données 数据"


# --- markers -----------------------------------------------------------------------------------


def test_it_shows_a_marker_to_the_audit_but_to_no_fold(cast: Cast, assert_rebuild_matches: Callable[[], None]) -> None:
    before = read_after(0)[-1].id
    shown = JobListProjection.objects.values().get(job_id=cast.backend)
    detail = JobDetailProjection.objects.values().get(job_id=cast.backend)
    with writer():
        append_marker(
            "StageQueued", job_id=cast.backend, body={"stage": StageName.SCORE, "source": "bulk_retry_failed"}
        )

    row = JobEventRow.objects.get(id__gt=before)
    assert (row.event_type, row.typed, row.job_id) == ("StageQueued", False, cast.backend)
    assert row.payload["source"] == "bulk_retry_failed"
    assert read_after(before) == []
    assert JobListProjection.objects.values().get(job_id=cast.backend) == shown
    assert JobDetailProjection.objects.values().get(job_id=cast.backend) == detail
    assert_rebuild_matches()


def test_it_refuses_a_marker_under_the_name_of_a_typed_event(db: None) -> None:
    with pytest.raises(ValueError, match="StageStarted is a typed event"), writer():
        append_marker("StageStarted", job_id=None, body={})


# --- guards ------------------------------------------------------------------------------------


COLUMNS = [str(field.column) for field in JobEventRow._meta.concrete_fields]


def test_it_refuses_to_change_delete_or_truncate_the_log(db: None) -> None:
    note("kept", key="once")
    statements = ["UPDATE job_events SET event_type = 'X'", "DELETE FROM job_events"]
    if connection.vendor == "postgresql":
        statements += ["TRUNCATE job_events", "TRUNCATE job_events CASCADE"]
    else:
        copied = ", ".join("'X'" if name == "event_type" else name for name in COLUMNS)
        statements += [
            f"{verb} INTO job_events SELECT {copied} FROM job_events" for verb in ("REPLACE", "INSERT OR REPLACE")
        ]
        copied = ", ".join("id + 100" if name == "id" else name for name in COLUMNS)
        statements += [f"REPLACE INTO job_events SELECT {copied} FROM job_events"]  # another id, the same key
    for statement in statements:
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        JobEventRow.objects.all().delete()
    assert [event.payload["actor"] for event in read_after(0)] == ["kept"]


def test_it_does_not_start_without_the_guards_and_gets_them_back_by_migrating(transactional_db: None) -> None:
    assert _list_guard_errors() == []
    with lift_guards():
        missing = list_missing_guards()
        assert "job_events_no_update" in missing and "job_events_no_delete" in missing
        [error] = _list_guard_errors()
        assert "job_events_no_delete" in error
        with pytest.raises(NotConfigured, match=r"not protected.*manage\.py migrate"):
            refuse_unprotected_log()
        call_command("migrate", verbosity=0, stdout=StringIO())
        assert list_missing_guards() == []
        assert _list_guard_errors() == []


def test_it_notices_one_guard_that_is_missing(transactional_db: None) -> None:
    suffix = " ON job_events" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER job_events_no_delete{suffix}")
    try:
        assert list_missing_guards() == ["job_events_no_delete"]
    finally:
        install_guards()
    assert list_missing_guards() == []


def _list_guard_errors() -> list[str]:
    found = run_checks(tags=["database"], databases=["default"])
    return [str(message.msg) for message in found if message.id == "operations.E001"]


def test_it_stores_payloads_as_plain_json(db: None) -> None:
    note("Zoë")
    with connection.cursor() as cursor:
        cursor.execute("SELECT payload FROM job_events")
        stored = cursor.fetchone()[0]
    body = json.loads(stored) if isinstance(stored, str) else stored
    assert body == {"keys": [], "actor": "Zoë"}
