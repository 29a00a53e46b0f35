"""A fold that raises: its app is flagged and catches up later; no event is lost and no other app notices."""

import logging
from collections.abc import Callable, Sequence

import pytest
from django.db import connection

from operations.database import writer
from operations.eventlog import LoggedEvent, append_marker, read_after
from operations.folding import ProjectionTable, engine
from operations.folding.engine import (
    REBUILDING,
    catch_up,
    flag_app,
    list_failing_apps,
    list_flagged_apps,
    read_stream_watermark,
)
from operations.models import ProjectionWatermark
from operations.reconciling import run_reconcilers
from tests.operations.cast import record_cast
from tests.operations.shadow import SECRET, ShadowApp

CODES = {
    "fold": "shadow_counters:SettingsChanged:ValueError",
    "key": "shadow_counters:SettingsChanged:KeyError",
    "row": "shadow_counters:SettingsChanged:IntegrityError",
}


@pytest.mark.parametrize("trouble", CODES)
def test_it_flags_the_app_and_keeps_the_event(
    trouble: str, shadow: ShadowApp, caplog: pytest.LogCaptureFixture, assert_rebuild_matches: Callable[[], None]
) -> None:
    good = shadow.write("good")
    shadow.trouble = trouble
    with caplog.at_level(logging.DEBUG):
        first = shadow.write("good", "bad", "late")
    bad, late = first + 1, first + 2

    assert [event.id for event in read_after(0)] == [good, first, bad, late]
    mark = shadow.mark()
    assert (mark.state, mark.error_code, mark.failed_event_id) == ("failing", CODES[trouble], bad)
    assert mark.last_event_id == good
    assert shadow.read() == {"good": 1}, "nothing of the failed batch stays"
    assert shadow.mark("operations").state == "live"
    assert shadow.mark("operations").last_event_id == late
    assert list_flagged_apps() == ["shadow"]
    assert read_stream_watermark() == late, "the stream follows the apps that are current"
    assert SECRET not in caplog.text and "posting" not in mark.error_code

    shadow.trouble = ""
    assert shadow.write("good") and shadow.read() == {"good": 1}, "a flagged app is left alone until it catches up"
    assert catch_up("shadow") == 4
    assert (shadow.mark().state, shadow.mark().error_code, shadow.mark().failed_event_id) == ("live", "", 0)
    assert shadow.read() == {"good": 3, "bad": 1, "late": 1}

    shadow.write("good")
    assert shadow.read()["good"] == 4, "it is folded live again"
    assert_rebuild_matches()


@pytest.mark.skipif("sqlite" in str(connection.vendor), reason="SQLite calls it an outage: nothing is written")
def test_it_flags_an_app_whose_table_is_gone(shadow: ShadowApp) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE shadow_counters RENAME TO elsewhere")
    written = shadow.write("good")

    assert read_after(0)[-1].id == written
    assert (shadow.mark().state, shadow.mark().error_code) == (
        "failing",
        "shadow_counters:SettingsChanged:ProgrammingError",
    )
    assert (shadow.mark("operations").state, shadow.mark("operations").last_event_id) == ("live", written)


@pytest.mark.parametrize("trouble", CODES)
def test_it_catches_up_as_far_as_it_can_and_stays_flagged(trouble: str, shadow: ShadowApp) -> None:
    shadow.trouble = trouble
    first = shadow.write("bad", "good")
    shadow.write("good")
    flag_app("shadow", state="failing")
    before = shadow.write("good") - 1
    assert before > first

    assert catch_up("shadow") == 0
    mark = shadow.mark()
    assert (mark.state, mark.failed_event_id, mark.last_event_id) == ("failing", first, first - 1)

    shadow.trouble = ""
    catch_up("shadow")
    shadow.trouble = trouble
    flag_app("shadow", state="failing")
    good = shadow.write("good", "good", "bad", "good")
    catch_up("shadow")
    mark = shadow.mark()
    assert (mark.state, mark.failed_event_id, mark.last_event_id) == ("failing", good + 2, good + 1)
    assert shadow.read() == {"bad": 1, "good": 5}


def test_it_catches_up_to_the_first_fault_where_a_later_one_shows_first(shadow: ShadowApp) -> None:
    shadow.trouble = "both"
    first = shadow.write("good", "bad", "worse", "good")
    assert catch_up("shadow") == 0
    mark = shadow.mark()
    assert (mark.state, mark.error_code) == ("failing", CODES["fold"])
    assert (mark.last_event_id, mark.failed_event_id) == (first, first + 1)
    assert shadow.read() == {"good": 1}


def test_it_flags_nobody_over_a_log_of_markers(shadow: ShadowApp) -> None:
    with writer():
        append_marker("StageQueued", job_id=None, body={"stage": "score"})
    assert list_flagged_apps() == []


def test_it_catches_up_in_slices_that_end_live(
    shadow: ShadowApp, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Callable[[], None]
) -> None:
    shadow.write("early")
    flag_app("shadow", state="failing")
    for _ in range(3):
        shadow.write("a", "b", "c")
    sizes: list[int] = []
    fold = engine.apply_batch

    def count_batch(events: Sequence[LoggedEvent], tables: Sequence[ProjectionTable]) -> None:
        sizes.append(len(events))
        fold(events, tables)

    monkeypatch.setattr(engine, "CATCH_UP_SLICE", 4)
    monkeypatch.setattr(engine, "apply_batch", count_batch)
    assert catch_up("shadow") == 9
    assert sizes == [4, 4, 1]
    assert shadow.read() == {"early": 1, "a": 3, "b": 3, "c": 3}
    assert shadow.mark().state == "live"
    assert_rebuild_matches()


def test_it_has_nothing_to_catch_up_for_a_live_app(shadow: ShadowApp) -> None:
    shadow.write("good")
    assert catch_up("shadow") == 0
    assert shadow.read() == {"good": 1}


@pytest.mark.parametrize("former", [(), ("removed",)], ids=["", "in place of another"])
def test_it_flags_a_new_app_that_meets_an_existing_log(shadow: ShadowApp, former: Sequence[str]) -> None:
    shadow.write("old")
    for app in former:
        ProjectionWatermark.objects.create(app=app, state="live", last_event_id=0)
    shadow.mark().delete()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM shadow_counters")
    assert list_flagged_apps() == ["shadow"]

    shadow.write("next")
    assert shadow.mark().state == "new"
    assert shadow.read() == {}
    run_reconcilers(startup=False)
    assert shadow.mark().state == "live"
    assert shadow.read() == {"old": 1, "next": 1}
    assert [shadow.mark(app).last_event_id for app in former] == [0 for _ in former], "nobody folded anything of it"


def test_it_starts_live_on_an_empty_log(shadow: ShadowApp, assert_rebuild_matches: Callable[[], None]) -> None:
    record_cast()
    assert (shadow.mark().state, shadow.mark("operations").state) == ("live", "live")
    assert list_flagged_apps() == []
    assert_rebuild_matches()


def test_it_starts_live_above_markers(shadow: ShadowApp) -> None:
    with writer():
        append_marker("StageQueued", job_id=None, body={"stage": "score"})
    shadow.write("first")
    assert (shadow.mark().state, shadow.mark("operations").state) == ("live", "live")
    assert shadow.read() == {"first": 1}


def test_it_mends_a_failing_app_on_the_heartbeat_but_leaves_a_rebuild_alone(shadow: ShadowApp) -> None:
    shadow.write("good")
    flag_app("shadow", state="failing")
    shadow.write("good")
    run_reconcilers(startup=False)
    assert (shadow.mark().state, shadow.read()) == ("live", {"good": 2})

    with writer():
        flag_app("shadow", state=REBUILDING)
    shadow.write("good")
    assert list_failing_apps() == []
    run_reconcilers(startup=False)
    assert (shadow.mark().state, shadow.read()) == ("rebuilding", {"good": 2})

    run_reconcilers(startup=True)
    assert (shadow.mark().state, shadow.read()) == ("live", {"good": 3})
