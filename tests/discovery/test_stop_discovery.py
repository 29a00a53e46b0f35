"""What a late thread still does for a discovery that was canceled or has ended: nothing."""

from collections.abc import Callable

import pytest
from temporalio.testing import ActivityEnvironment

from discovery.activities import fan_out_preparations
from discovery.contracts import DiscoveryEnd, FanoutInput
from discovery.models import DiscoveryRun, DiscoveryRunSource, Job, JobSourceObservation
from discovery.services import postings, preparation
from discovery.services.runs import crawl_source, end_run, plan_run
from discovery.services.sources import register_bundled_sources
from operations.contracts import RunStatus, WorkflowOutcome, WorkPlan
from operations.errors import RunStopped
from operations.models import DiscoveryExecutionJob, PipelineStepProjection
from operations.queries import list_memberships
from operations.services.runs import record_cancel_intent, record_outcome
from operations.services.starts import Started, StartRequest
from operations.workspace import ensure_workspace
from tests.discovery.cast import (
    BACKEND,
    BERLIN,
    FIRST_RUN,
    SECOND_RUN,
    accept,
    add_job,
    list_event_types,
    read_log_head,
    work,
)

pytestmark = pytest.mark.django_db

Check = Callable[[], None]
IDS = (FIRST_RUN.workflow_id, FIRST_RUN.run_id, "DiscoverWorkflow")
STOPS: dict[str, Callable[[], object]] = {
    "it was asked to stop": lambda: record_cancel_intent(FIRST_RUN.workflow_id, FIRST_RUN.run_id),
    "its crawl was recorded as canceled": lambda: end_run(DiscoveryEnd(FIRST_RUN, "canceled", {})),
    "its end is recorded": lambda: record_outcome(WorkflowOutcome(*IDS, RunStatus.TERMINATED)),
}


@pytest.fixture(params=STOPS)
def stop(request: pytest.FixtureRequest, db: None) -> Callable[[], object]:
    return STOPS[request.param]


def test_it_accepts_no_batch_after_the_one_that_the_stop_came_behind(
    stop: Callable[[], object], monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    monkeypatch.setattr(postings, "BATCH", 1)
    accept(BACKEND)
    stop()
    head = read_log_head()

    with pytest.raises(RunStopped):
        accept(BACKEND, BERLIN)

    assert list_event_types(after=head) == []
    assert [job.external_id for job in Job.objects.all()] == [BACKEND.external_id]
    assert DiscoveryExecutionJob.objects.count() == JobSourceObservation.objects.count() == 1
    assert accept(BERLIN, ref=SECOND_RUN).new == 1, "another run is not stopped by it"
    assert_rebuild_matches()


def test_it_says_nothing_of_a_source_that_was_read_too_late(
    stop: Callable[[], object], assert_rebuild_matches: Check
) -> None:
    source_id = register_bundled_sources()[0]
    plan_run(FIRST_RUN)
    stop()
    head = read_log_head()

    with pytest.raises(RunStopped):
        crawl_source(FIRST_RUN, source_id, attempt=1, is_cancelled=lambda: False)

    assert DiscoveryRunSource.objects.get(source_id=source_id).state == "pending"
    assert (list_event_types(after=head), Job.objects.count()) == ([], 0)
    assert_rebuild_matches()


def test_it_plans_nothing(stop: Callable[[], object], assert_rebuild_matches: Check) -> None:
    register_bundled_sources()
    stop()

    with pytest.raises(RunStopped):
        plan_run(FIRST_RUN)

    assert not DiscoveryRun.objects.exists()
    assert not DiscoveryRunSource.objects.exists()
    assert not PipelineStepProjection.objects.exists()
    assert_rebuild_matches()


def test_it_starts_no_preparations_after_the_batch_that_the_stop_came_in(
    stop: Callable[[], object], monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    started: list[str] = []

    def start_and_stop(requests: list[StartRequest]) -> list[Started]:
        started.extend(request.workflow_id for request in requests)
        stop()
        return [Started(request.workflow_id, "a-run", existing=False) for request in requests]

    monkeypatch.setattr("discovery.activities.FANOUT_BATCH", 1)
    monkeypatch.setattr(preparation, "start_workflows", start_and_stop)
    register_bundled_sources()
    plan_run(FIRST_RUN)
    for posting in (BACKEND, BERLIN):
        work(add_job(posting), "enrich")

    with pytest.raises(RunStopped):
        ActivityEnvironment().run(fan_out_preparations, FanoutInput(FIRST_RUN, 1, ensure_workspace().identity))

    assert len(started) == 1
    assert len(list_memberships(FIRST_RUN, plan_state=WorkPlan.PENDING)) == 1
    assert_rebuild_matches()
