"""Discovery runs that could not record their own end."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from discovery import reconcilers
from discovery.contracts import DiscoveryEnd
from discovery.models import DiscoveryRun
from discovery.queries import iter_runs_in_progress
from discovery.reconcilers import end_abandoned_runs
from discovery.services import runs
from discovery.services.runs import end_run, plan_run
from discovery.services.sources import register_bundled_sources
from operations.contracts import RunStatus, StepKind, WorkflowOutcome, WorkflowStart
from operations.errors import RunStopped
from operations.models import PipelineStepProjection
from operations.services.runs import record_not_found, record_outcome, record_started
from operations.services.steps import complete_step, queue_step, recorded_step, start_step
from tests.discovery.cast import FIRST_RUN, list_events

pytestmark = pytest.mark.django_db
IDS = (FIRST_RUN.workflow_id, FIRST_RUN.run_id, "DiscoverWorkflow")


@pytest.fixture
def crawling(db: None) -> None:
    """A run in the middle of its one family, with a job's PDF being printed beside it."""
    register_bundled_sources()
    record_started(WorkflowStart(*IDS, {}))
    plan_run(FIRST_RUN)
    start_step(FIRST_RUN, StepKind.SOURCE_FAMILY, item_key="bundled", attempt=2)
    start_step(FIRST_RUN, StepKind.PDF_RENDER, item_key="a-job")


def test_it_ends_the_steps_of_a_run_that_ends_by_itself_too(
    crawling: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    """One family's worker died, another was never begun."""
    queue_step(FIRST_RUN, StepKind.SOURCE_FAMILY, item_key="ats")

    end_run(DiscoveryEnd(FIRST_RUN, "canceled", {}))

    steps = PipelineStepProjection.objects.filter(kind="source_family").order_by("item_key")
    assert [(row.item_key, row.state, row.error_code) for row in steps] == [
        ("ats", "failed", "canceled"),
        ("bundled", "failed", "canceled"),
    ]
    complete_step(FIRST_RUN, StepKind.SOURCE_FAMILY, counts={}, item_key="bundled", attempt=2)
    assert steps.filter(state="failed").count() == 2, "whoever comes late changes nothing"
    assert PipelineStepProjection.objects.get(kind="pdf_render").state == "running"
    assert_rebuild_matches()


def test_it_finds_an_ended_run_behind_any_number_that_have_not(
    monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Callable[[], None]
) -> None:
    monkeypatch.setattr(reconcilers, "iter_runs_in_progress", partial(iter_runs_in_progress, page=2))
    register_bundled_sources()
    for number in range(5):
        ref = replace(FIRST_RUN, run_id=f"run-{number}")
        record_started(WorkflowStart(ref.workflow_id, ref.run_id, "DiscoverWorkflow", {}))
        plan_run(ref)
        if number < 4:
            record_not_found(ref.run_id, ref.workflow_id, "DiscoverWorkflow", episode=1)
    record_outcome(WorkflowOutcome(FIRST_RUN.workflow_id, "run-4", "DiscoverWorkflow", RunStatus.TERMINATED))

    assert (end_abandoned_runs(), end_abandoned_runs()) == (1, 0)

    assert DiscoveryRun.objects.get(run_id="run-4").status == "failed"
    assert DiscoveryRun.objects.filter(status="in_progress").count() == 4
    assert_rebuild_matches()


def test_it_ends_so_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcilers, "MOST_ENDS", 2)
    register_bundled_sources()
    for number in range(3):
        ref = replace(FIRST_RUN, run_id=f"run-{number}")
        plan_run(ref)
        record_outcome(WorkflowOutcome(ref.workflow_id, ref.run_id, "DiscoverWorkflow", RunStatus.TIMED_OUT))
    assert [end_abandoned_runs() for _ in range(3)] == [2, 1, 0]


def test_it_ends_what_was_planned_after_the_end_was_logged(
    monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Callable[[], None]
) -> None:
    """As threads of earlier versions could leave it: the end first, then the run's row and its steps."""
    register_bundled_sources()
    end_run(DiscoveryEnd(FIRST_RUN, "canceled", {}))
    record_outcome(WorkflowOutcome(*IDS, RunStatus.CANCELED))
    monkeypatch.setattr(runs, "check_discovery", lambda ref: None)
    plan_run(FIRST_RUN)

    assert (end_abandoned_runs(), end_abandoned_runs()) == (1, 0)

    run = DiscoveryRun.objects.get()
    assert (run.status, run.error_code, run.ended_at is None) == ("failed", "canceled", False)
    assert read_steps() == {"source_family": ("failed", "canceled")}
    assert len(list_events("DiscoveryRunFailed")) == 1
    assert_rebuild_matches()


def test_a_step_begun_just_before_the_end_does_not_stay_at_work(
    crawling: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    """The crawl's end is recorded while who canceled the run is still asked for; then the worker is killed."""
    end_run(DiscoveryEnd(FIRST_RUN, "canceled", {}))
    start_step(FIRST_RUN, StepKind.ENRICHMENT_PASS)

    record_outcome(WorkflowOutcome(*IDS, RunStatus.CANCELED))

    assert read_steps() == {
        "source_family": ("failed", "canceled"),
        "enrichment_pass": ("failed", "canceled"),
        "pdf_render": ("running", ""),
    }
    assert_rebuild_matches()


def test_no_step_begins_after_the_end(crawling: None, assert_rebuild_matches: Callable[[], None]) -> None:
    record_outcome(WorkflowOutcome(*IDS, RunStatus.CANCELED))

    with pytest.raises(RunStopped), recorded_step(FIRST_RUN, StepKind.PREPARATION_FANOUT):
        pytest.fail("its work was begun")

    assert "preparation_fanout" not in read_steps()
    assert_rebuild_matches()


def read_steps() -> dict[str, tuple[str, str]]:
    return {row.kind: (row.state, row.error_code) for row in PipelineStepProjection.objects.all()}


def test_it_ends_the_run_and_its_steps_after_a_termination(
    crawling: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    record_outcome(WorkflowOutcome(*IDS, RunStatus.TERMINATED))

    assert (end_abandoned_runs(), end_abandoned_runs()) == (1, 0)

    run = DiscoveryRun.objects.get()
    assert (run.status, run.error_code, run.ended_at is None) == ("failed", "terminated", False)
    assert read_steps() == {"source_family": ("failed", "terminated"), "pdf_render": ("running", "")}
    assert [event["errorCode"] for event in list_events("DiscoveryRunFailed")] == ["terminated"]
    assert_rebuild_matches()


def test_it_leaves_a_run_alone_that_works_or_whose_end_is_only_assumed(crawling: None) -> None:
    assert end_abandoned_runs() == 0
    record_not_found(FIRST_RUN.run_id, FIRST_RUN.workflow_id, "DiscoverWorkflow", episode=1)
    assert end_abandoned_runs() == 0
    assert DiscoveryRun.objects.get().status == "in_progress"
