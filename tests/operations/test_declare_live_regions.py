"""Every event type says which regions of the pages it makes stale."""

import re
from datetime import UTC, datetime
from uuid import UUID

import pytest

from operations import live_regions
from operations.eventlog import LoggedEvent, list_event_types
from operations.live_regions import list_stale_regions, stale

JOB = UUID("00000000-0000-0000-0000-00000000000a")
REGION = re.compile(r"[a-z]+(-[a-z]+)*(:[0-9a-z-]+)?")


def log_event(name: str) -> LoggedEvent:
    return LoggedEvent(1, name, "local", JOB, "job-preparation", "run-1", {}, datetime(2026, 11, 29, tzinfo=UTC))


def test_it_hears_of_every_event_type_from_some_app() -> None:
    assert live_regions.list_undeclared_types() == [], "declare these in their app's live.py: @stale or no_page"
    assert live_regions.list_unknown_types() == [], "these are no event types (any more)"
    assert live_regions.list_contradictions() == []


@pytest.mark.parametrize("name", sorted(list_event_types()))
def test_it_names_regions_that_an_element_can_carry(name: str) -> None:
    regions = list_stale_regions([log_event(name)])

    assert "activity-list" in regions
    assert all(REGION.fullmatch(region) for region in regions), regions


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("JobScored", {f"job-row:{JOB}", f"job:{JOB}", "jobs-list", "dashboard"}),
        ("StageFailed", {f"job-row:{JOB}", f"job:{JOB}", "run:run-1", "topbar"}),
        ("WorkflowCompleted", {"run-row:run-1", "run:run-1", "runs-list", "dashboard", "topbar", f"job:{JOB}"}),
        ("PipelineStepCompleted", {"run:run-1"}),
        ("ProfileImported", {"profile"}),
    ],
)
def test_it_names_all_that_shows_the_change(name: str, wanted: set[str]) -> None:
    assert wanted <= set(list_stale_regions([log_event(name)]))


def test_it_names_each_region_once_for_many_events() -> None:
    regions = list_stale_regions([log_event("JobScored"), log_event("JobScored"), log_event("PdfRendered")])
    assert len(regions) == len(set(regions))


def test_a_handler_that_raises_costs_only_its_own_regions(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(live_regions, "_handlers", {})

    @stale("JobScored")
    def break_down(event: LoggedEvent) -> list[str]:
        raise KeyError(event.id)

    @stale("JobScored")
    def name_it(event: LoggedEvent) -> list[str]:
        return ["jobs-list"]

    assert list_stale_regions([log_event("JobScored")]) == ["activity-list", "jobs-list"]
    assert "no regions for JobScored" in caplog.text
