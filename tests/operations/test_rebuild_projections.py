"""Verification and rebuilding: what is wrong is counted, mended in slices, and nothing written meanwhile is lost."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError

from operations.eventlog import read_after
from operations.folding import rebuild
from operations.folding.engine import catch_up, list_flagged_apps
from operations.folding.rebuild import (
    ProjectionReport,
    RebuildOvertaken,
    TableReport,
    rebuild_projections,
    verify_projections,
)
from operations.models import JobDetailProjection, JobEventRow, JobListProjection
from operations.reconciling import run_reconcilers
from tests.operations.cast import Cast, record_cast
from tests.operations.databases import PATIENCE, SharedDatabase
from tests.operations.shadow import ShadowApp


def find_table(report: ProjectionReport, name: str) -> TableReport:
    return next(table for table in report.tables if table.table == name)


def count_faults(report: ProjectionReport, name: str) -> tuple[int, int, int]:
    found = find_table(report, name)
    return found.missing, found.differing, found.superfluous


def spoil(cast: Cast) -> None:
    """One row too few and one wrong in the list; one too many in the details."""
    JobListProjection.objects.filter(job_id=cast.backend).delete()
    JobListProjection.objects.filter(job_id=cast.sales).update(title="Something else")
    JobDetailProjection.objects.create(job_id=uuid4())


def test_it_finds_nothing_to_report_where_all_is_well(cast: Cast) -> None:
    report = verify_projections()
    assert report.is_clean
    assert report.events == len(read_after(0))
    found = find_table(report, "job_list_projections")
    assert (found.rows, found.digest == found.expected_digest) == (4, True)


def test_it_counts_what_is_missing_different_and_too_much(cast: Cast) -> None:
    spoil(cast)
    report = verify_projections()
    assert not report.is_clean
    assert count_faults(report, "job_list_projections") == (1, 1, 0)
    assert count_faults(report, "job_detail_projections") == (0, 0, 1)
    assert count_faults(report, "workflow_run_projections") == (0, 0, 0)
    found = find_table(report, "job_list_projections")
    assert found.digest != found.expected_digest
    assert JobListProjection.objects.count() == 3, "verifying changes nothing"


def test_it_reports_what_it_mends_and_then_finds_nothing(cast: Cast) -> None:
    before = list(JobListProjection.objects.order_by("job_id").values())
    spoil(cast)
    report = rebuild_projections()
    assert count_faults(report, "job_list_projections") == (1, 1, 0)
    assert count_faults(report, "job_detail_projections") == (0, 0, 1)
    assert list(JobListProjection.objects.order_by("job_id").values()) == before
    assert rebuild_projections().is_clean
    assert verify_projections().is_clean
    assert list_flagged_apps() == []


def test_it_rebuilds_everything_from_an_empty_table(cast: Cast) -> None:
    JobListProjection.objects.all().delete()
    JobDetailProjection.objects.all().delete()
    assert count_faults(rebuild_projections(app="operations"), "job_list_projections") == (4, 0, 0)
    assert verify_projections().is_clean


def test_it_tells_how_far_it_has_come(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuild, "PAGE", 3)
    seen: list[tuple[str, int, int]] = []
    verify_projections(progress=lambda app, done, total: seen.append((app, done, total)))
    head = read_after(0)[-1].id
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})
    assert len(seen) > 1 and seen[-1] == ("operations", head, head)


def test_it_says_that_an_app_is_flagged(shadow: ShadowApp) -> None:
    shadow.trouble = "fold"
    shadow.write("bad")
    report = verify_projections()
    assert report.flagged == {"shadow": "failing"}
    assert not report.is_clean


@pytest.fixture
def between_slices(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Have something happen once, after the first slice of a rebuild was written."""

    def arrange(happen: Callable[[], object]) -> None:
        write, waiting = rebuild._write_slice, [happen]

        def write_then(*given: Any) -> None:
            write(*given)
            if given[1] and waiting:
                waiting.pop()()

        monkeypatch.setattr(rebuild, "SLICE", 2)
        monkeypatch.setattr(rebuild, "_write_slice", write_then)

    return arrange


def test_it_loses_nothing_that_is_written_between_two_slices(
    shadow: ShadowApp, between_slices: Callable[[Callable[[], object]], None]
) -> None:
    shadow.write(*"abcdef")
    _empty_counters()
    between_slices(lambda: shadow.write("a", "z"))
    report = rebuild_projections(app="shadow")
    assert count_faults(report, "shadow_counters") == (6, 0, 0)
    assert shadow.read() == {**dict.fromkeys("bcdef", 1), "a": 2, "z": 1}
    assert verify_projections().is_clean


def test_it_begins_again_when_a_starting_worker_has_caught_up(
    shadow: ShadowApp, between_slices: Callable[[Callable[[], object]], None]
) -> None:
    shadow.write(*"abcdef")
    _empty_counters()

    def start_worker() -> None:
        shadow.write("f", "f")
        run_reconcilers(startup=True)

    between_slices(start_worker)
    rebuild_projections(app="shadow")
    assert shadow.read() == {**dict.fromkeys("abcde", 1), "f": 3}
    assert verify_projections().is_clean
    assert shadow.mark().state == "live"


def test_it_gives_up_when_it_is_overtaken_again_and_again(shadow: ShadowApp, monkeypatch: pytest.MonkeyPatch) -> None:
    shadow.write(*"abcdef")
    _empty_counters()
    compare = rebuild._iter_differences

    def overtake(*given: Any) -> Any:
        catch_up("shadow")
        return compare(*given)

    monkeypatch.setattr(rebuild, "_iter_differences", overtake)
    with pytest.raises(RebuildOvertaken):
        rebuild_projections(app="shadow")


def test_it_stays_flagged_when_interrupted_and_is_mended_by_the_next(
    shadow: ShadowApp, between_slices: Callable[[Callable[[], object]], None]
) -> None:
    shadow.write(*"abcdef")
    _empty_counters()

    def interrupt() -> None:
        raise KeyboardInterrupt

    between_slices(interrupt)
    with pytest.raises(KeyboardInterrupt):
        rebuild_projections(app="shadow")
    assert (shadow.mark().state, shadow.mark().error_code) == ("failing", "REBUILD_INTERRUPTED")
    shadow.write("new")
    assert "new" not in shadow.read(), "live folding leaves a half-mended table alone"

    run_reconcilers(startup=False)
    assert (shadow.mark().state, shadow.read()["new"]) == ("live", 1)
    assert count_faults(verify_projections(), "shadow_counters") == (4, 0, 0)
    assert count_faults(rebuild_projections(), "shadow_counters") == (4, 0, 0)
    assert verify_projections().is_clean


def test_it_goes_on_by_itself_where_it_was_broken_off_while_folding(
    shadow: ShadowApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock(*_given: Any, **_named: Any) -> None:
        raise OperationalError("database is locked")

    shadow.write(*"abc")
    monkeypatch.setattr(rebuild.Scratch, "fold_to", lock)
    with pytest.raises(OperationalError):
        rebuild_projections(app="shadow")
    assert (shadow.mark().state, shadow.mark().error_code) == ("failing", "REBUILD_INTERRUPTED")
    shadow.write("new")
    run_reconcilers(startup=False)
    assert (shadow.mark().state, shadow.read()["new"]) == ("live", 1)


def test_it_ends_flagged_when_a_fold_raises_while_rebuilding(shadow: ShadowApp) -> None:
    shadow.write("good", "bad")
    shadow.trouble = "fold"
    with pytest.raises(Exception, match="shadow_counters:SettingsChanged:ValueError"):
        rebuild_projections(app="shadow")
    assert list_flagged_apps() == ["shadow"]
    assert shadow.mark().state == "failing"
    assert shadow.mark().failed_event_id == JobEventRow.objects.get(payload__actor="bad").pk
    assert shadow.read() == {"good": 1, "bad": 1}, "what was there is not thrown away"
    shadow.write("new")
    run_reconcilers(startup=False)
    assert shadow.read() == {"good": 1, "bad": 1, "new": 1}, "lists do not stand still until the next start"
    shadow.trouble = ""
    rebuild_projections()
    assert verify_projections().is_clean


def _empty_counters() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM shadow_counters")


def test_it_ends_clean_while_another_thread_goes_on_writing(
    shared: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from operations.database import writer
    from operations.eventlog import append
    from operations.events import StageStarted

    cast = record_cast()
    JobDetailProjection.objects.all().delete()
    monkeypatch.setattr(rebuild, "SLICE", 1)

    def write_on() -> None:
        for attempt in range(30):
            with writer():
                append(StageStarted(job_id=cast.data, stage="score", attempt=attempt))

    writing = shared.start(write_on)
    report = rebuild_projections()
    writing.result(PATIENCE)

    missing, differing, _ = count_faults(report, "job_detail_projections")
    assert missing + differing == 4, "a row that the thread touched before it was flagged is there, but wrong"
    detail = JobDetailProjection.objects.get(job_id=cast.data)
    assert detail.stages_json["score"]["attempt"] == 29
    assert verify_projections().is_clean
