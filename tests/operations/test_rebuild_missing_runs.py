"""A run list that lost rows behind its watermark fills itself again from the log, a bounded slice of it at a time."""

from collections.abc import Callable

import pytest
from pytest_django import DjangoAssertNumQueries

from operations.contracts import WorkflowStart
from operations.folding.engine import flag_app
from operations.models import WorkflowRunProjection
from operations.services import missing_runs
from operations.services.missing_runs import rebuild_missing_runs
from operations.services.runs import record_started

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_runs._Walk, "below", None)


def start_runs(number: int) -> None:
    for index in range(number):
        record_started(WorkflowStart(f"w-{index}", f"r-{index:02}", "DiscoverWorkflow", {}))


def test_an_emptied_run_list_is_rebuilt_at_once(assert_rebuild_matches: Check) -> None:
    start_runs(3)
    WorkflowRunProjection.objects.all().delete()

    assert rebuild_missing_runs() == 3

    assert WorkflowRunProjection.objects.count() == 3
    assert_rebuild_matches()


def test_an_old_gap_is_found_by_walking_back_through_the_log(
    monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    start_runs(12)
    monkeypatch.setattr(missing_runs, "SLICE", 5)
    WorkflowRunProjection.objects.filter(run_id="r-00").delete()

    assert [rebuild_missing_runs() for _ in range(3)] == [0, 0, 1]

    assert WorkflowRunProjection.objects.filter(run_id="r-00").exists()
    assert_rebuild_matches()


def test_it_looks_at_the_whole_log_once_and_then_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    start_runs(12)
    monkeypatch.setattr(missing_runs, "SLICE", 5)
    with django_assert_max_num_queries(5):
        rebuild_missing_runs()
    monkeypatch.setattr(missing_runs, "SLICE", 10**9)
    rebuild_missing_runs()
    with django_assert_max_num_queries(0):
        assert rebuild_missing_runs() == 0


def test_it_leaves_projections_alone_that_are_not_live() -> None:
    start_runs(2)
    WorkflowRunProjection.objects.all().delete()
    flag_app("operations", state="rebuilding")
    assert rebuild_missing_runs() == 0
    assert not WorkflowRunProjection.objects.exists()
