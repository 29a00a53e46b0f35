from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from temporalio.testing import ActivityEnvironment

from discovery.activities import fan_out_preparations
from discovery.contracts import FanoutInput
from discovery.models import DiscoveryRun, Job
from discovery.services import preparation
from discovery.services.preparation import choose_plan, fan_out
from discovery.services.runs import plan_run
from discovery.services.sources import register_bundled_sources
from operations.contracts import PREPARATION_ORDER, ExecutionRef, PreparationInput, WorkPlan
from operations.errors import WorkerUnavailable
from operations.models import DiscoveryExecutionJob
from operations.queries import count_plans, list_memberships
from operations.services.starts import Started, StartRequest
from operations.workspace import ensure_workspace
from tests.discovery.cast import (
    BACKEND,
    BERLIN,
    DUTIES,
    FIRST_RUN,
    SECOND_RUN,
    accept,
    add_job,
    find_job,
    list_events,
    work,
)

pytestmark = pytest.mark.django_db

Check = Callable[[], None]
FULL = [str(stage) for stage in PREPARATION_ORDER]


@dataclass
class Starter:
    """Stands where Temporal is asked; knows the workflows it has started."""

    batches: list[list[StartRequest]] = field(default_factory=list)
    running: dict[str, str] = field(default_factory=dict)
    is_down: bool = False

    def start(self, requests: Sequence[StartRequest]) -> list[Started]:
        if self.is_down:
            raise WorkerUnavailable
        self.batches.append(list(requests))
        started = []
        for request in requests:
            existing = request.workflow_id in self.running
            run_id = self.running.setdefault(request.workflow_id, f"run-of-{len(self.running)}")
            started.append(Started(request.workflow_id, run_id, existing))
        return started

    @property
    def ids(self) -> list[str]:
        return [request.workflow_id for batch in self.batches for request in batch]


@pytest.fixture
def starter(monkeypatch: pytest.MonkeyPatch) -> Starter:
    starter = Starter()
    monkeypatch.setattr(preparation, "start_workflows", starter.start)
    return starter


def enrich(*job_ids: UUID) -> None:
    for job_id in job_ids:
        work(job_id, "enrich")


def fan(ref: ExecutionRef, *job_ids: UUID, profile_version: int = 1) -> dict[str, int]:
    return fan_out(ref, job_ids, profile_version=profile_version, workspace_identity="this-workspace")


def get_plan(job_id: UUID, ref: ExecutionRef = FIRST_RUN) -> DiscoveryExecutionJob:
    return DiscoveryExecutionJob.objects.get(run_id=ref.run_id, job_id=job_id)


def test_it_starts_one_root_preparation_a_job_and_records_its_plan(
    starter: Starter, assert_rebuild_matches: Check
) -> None:
    job_ids = [add_job(BACKEND), add_job(BERLIN)]
    enrich(*job_ids)

    counts = fan(FIRST_RUN, *job_ids)

    assert counts == {"planned": 2, "started": 2, "notEligible": 0}
    [batch] = starter.batches
    assert {request.workflow_type for request in batch} == {"JobPreparationWorkflow"}
    assert all(request.retry_failed for request in batch)
    given = batch[0].argument
    assert isinstance(given, PreparationInput)
    assert (given.job_id, given.profile_version, given.workspace_identity) == (str(job_ids[0]), 1, "this-workspace")
    assert (list(given.steps), given.execution_ref) == (FULL, FIRST_RUN)
    assert batch[0].workflow_id == f"prep-{given.idempotency_key}"
    assert DUTIES not in str(batch)
    for job_id, request in zip(job_ids, batch, strict=True):
        plan = get_plan(job_id)
        assert (plan.plan_state, plan.required_steps) == (WorkPlan.PLANNED, FULL)
        assert plan.preparation_workflow_id == request.workflow_id
        assert plan.planned_at is not None
    assert_rebuild_matches()


def test_it_uses_the_same_ids_for_the_same_jobs(starter: Starter, assert_rebuild_matches: Check) -> None:
    job_ids = [add_job(BACKEND), add_job(BERLIN)]
    enrich(*job_ids)

    fan(FIRST_RUN, *job_ids)
    counts = fan(FIRST_RUN, *job_ids)
    accept(BACKEND, BERLIN, ref=SECOND_RUN)
    later = fan(SECOND_RUN, *job_ids)

    assert starter.ids[:2] == starter.ids[2:4] == starter.ids[4:]
    assert len(set(starter.ids)) == 2
    assert counts["started"] == later["started"] == 0
    assert get_plan(job_ids[0], SECOND_RUN).preparation_workflow_id == starter.ids[0]
    assert_rebuild_matches()


def test_it_uses_a_new_id_once_the_posting_says_something_else(starter: Starter, assert_rebuild_matches: Check) -> None:
    job_id = add_job()
    enrich(job_id)
    fan(FIRST_RUN, job_id)

    accept(replace(BACKEND, title="Staff Backend Engineer"), ref=SECOND_RUN)
    enrich(job_id)
    counts = fan(SECOND_RUN, job_id)

    assert counts["started"] == 1
    assert len(set(starter.ids)) == 2
    assert get_plan(job_id).preparation_workflow_id == starter.ids[0]
    assert get_plan(job_id, SECOND_RUN).preparation_workflow_id == starter.ids[1]
    assert_rebuild_matches()


def test_it_keeps_a_recorded_plan_as_it_is(starter: Starter, assert_rebuild_matches: Check) -> None:
    job_id = add_job()
    enrich(job_id)
    fan(FIRST_RUN, job_id)
    before = get_plan(job_id)

    Job.objects.filter(id=job_id).update(active_state="closed")
    fan(FIRST_RUN, job_id)

    after = get_plan(job_id)
    assert (after.plan_state, after.required_steps, after.planned_at) == (
        before.plan_state,
        before.required_steps,
        before.planned_at,
    )
    assert_rebuild_matches()


def make_unenriched() -> UUID:
    return add_job()


def make_failed() -> UUID:
    job_id = add_job(replace(BACKEND, description="", url=""))
    enrich(job_id)
    return job_id


def make_closed() -> UUID:
    job_id = add_job(replace(BACKEND, closes_at=timezone.now() - timedelta(days=1)))
    enrich(job_id)
    return job_id


def make_enriched() -> UUID:
    job_id = add_job()
    enrich(job_id)
    return job_id


@pytest.mark.parametrize(
    ("make", "profile_version", "reason"),
    [
        (make_enriched, 0, "NO_PROFILE"),
        (make_unenriched, 1, "ENRICH_PENDING"),
        (make_failed, 1, "ENRICH_FAILED"),
        (make_closed, 1, "POSTING_CLOSED"),
    ],
)
def test_it_records_why_a_job_is_not_prepared(
    make: Callable[[], UUID], profile_version: int, reason: str, starter: Starter, assert_rebuild_matches: Check
) -> None:
    job_id = make()

    counts = fan(FIRST_RUN, job_id, profile_version=profile_version)

    assert counts == {"planned": 0, "started": 0, "notEligible": 1}
    plan = get_plan(job_id)
    assert (plan.plan_state, plan.plan_reason, plan.required_steps) == (WorkPlan.NOT_ELIGIBLE, reason, [])
    assert plan.preparation_workflow_id == ""
    assert starter.batches == []
    assert_rebuild_matches()


def test_it_only_scores_a_posting_it_does_not_trust(starter: Starter, assert_rebuild_matches: Check) -> None:
    job_id = add_job(replace(BACKEND, url="http://localhost/", description="Python and Django, in Austin."))
    enrich(job_id)

    fan(FIRST_RUN, job_id)

    assert get_plan(job_id).required_steps == ["score"]
    assert starter.batches[0][0].argument.steps == ("score",)
    assert_rebuild_matches()


def test_it_plans_a_job_that_is_gone_as_not_eligible(starter: Starter, assert_rebuild_matches: Check) -> None:
    job_id = make_enriched()
    Job.objects.filter(id=job_id).update(deleted_at=timezone.now())

    fan(FIRST_RUN, job_id)

    plan = get_plan(job_id)
    assert (plan.plan_state, plan.plan_reason) == (WorkPlan.NOT_ELIGIBLE, "JOB_DELETED")
    assert starter.batches == []
    assert_rebuild_matches()


def test_it_plans_nothing_while_no_work_can_be_started(starter: Starter, assert_rebuild_matches: Check) -> None:
    enriched, failed = make_enriched(), add_job(BERLIN)
    starter.is_down = True

    with pytest.raises(WorkerUnavailable):
        fan(FIRST_RUN, enriched, failed)

    assert list_memberships(FIRST_RUN, plan_state=WorkPlan.PENDING) == [enriched, failed]
    assert_rebuild_matches()


def test_it_refuses_a_batch_that_is_too_large() -> None:
    job_ids = [UUID(int=number) for number in range(26)]

    with pytest.raises(ValueError, match="at most 25"):
        fan(FIRST_RUN, *job_ids)


def test_it_starts_twenty_six_jobs_in_batches_of_twenty_five_and_one(
    starter: Starter, assert_rebuild_matches: Check
) -> None:
    register_bundled_sources()
    plan_run(FIRST_RUN)
    postings = [replace(BACKEND, external_id=f"R-{n}", apply_url="", description=f"{DUTIES} {n}") for n in range(26)]
    accept(*postings)
    enrich(*(find_job(posting).id for posting in postings))
    given = FanoutInput(FIRST_RUN, 1, ensure_workspace().identity)

    report = ActivityEnvironment().run(fan_out_preparations, given)
    again = ActivityEnvironment().run(fan_out_preparations, given)

    assert [len(batch) for batch in starter.batches] == [25, 1]
    assert report.counts == {"planned": 26, "started": 26, "notEligible": 0}
    assert again.counts == {}
    assert count_plans(FIRST_RUN) == {"planned": 26}
    run = DiscoveryRun.objects.get()
    assert run.progress_done == run.progress_total
    [step] = list_events("PipelineStepCompleted")
    assert (step["kind"], step["counts"]["planned"]) == ("preparation_fanout", 26)
    assert_rebuild_matches()


def test_it_decides_without_writing(assert_rebuild_matches: Check) -> None:
    job_id = make_enriched()

    plan = choose_plan(job_id, profile_version=1)

    assert (plan.steps, plan.reason) == (PREPARATION_ORDER, "")
    assert get_plan(job_id).plan_state == WorkPlan.PENDING
    assert_rebuild_matches()
