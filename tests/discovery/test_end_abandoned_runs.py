"""Discovery runs that could not record their own end."""

from collections.abc import Callable

import pytest

from discovery.models import DiscoveryRun
from discovery.reconcilers import end_abandoned_runs
from discovery.services.runs import plan_run
from discovery.services.sources import register_bundled_sources
from operations.contracts import RunStatus, StepKind, WorkflowOutcome, WorkflowStart
from operations.models import PipelineStepProjection
from operations.services.runs import record_not_found, record_outcome, record_started
from operations.services.steps import start_step
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
