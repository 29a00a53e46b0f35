"""Operational metrics: one row for each attempt at a boundary, however it ended, with our own words only."""

from typing import Any

import pytest
from django.test import Client

from operations.contracts import ExecutionRef, RunStatus, StageName, StepKind, WorkflowOutcome
from operations.errors import NotConfigured, StageFailure
from operations.models import OperationalAttemptMetric
from operations.services.runs import record_outcome
from operations.services.steps import complete_step, fail_step, recorded_step, start_step
from operations.stage_engine import Claim, Owner, StageContext, work_job
from tests.operations.admin_pages import sign_in
from tests.operations.cast import FIRST_RUN, PROFILE_VERSION, Cast, ScriptedStage, claim

pytestmark = pytest.mark.django_db

ENRICH = StageName.ENRICH
REF = ExecutionRef("local", "discover-local", "run-a")
Stages = dict[StageName, ScriptedStage]


def read(*fields: str) -> list[Any]:
    rows = OperationalAttemptMetric.objects.order_by("id")
    return list(rows.values_list(*fields, flat=len(fields) == 1))


@pytest.mark.parametrize(
    "kind", [StepKind.SOURCE_PLANNING, StepKind.ENRICHMENT_PASS, StepKind.PREPARATION_FANOUT, StepKind.SOURCE_FAMILY]
)
def test_each_step_of_a_run_leaves_its_row(kind: StepKind) -> None:
    with recorded_step(REF, kind, item_key="ats", attempt=2) as counts:
        counts["postings"] = 3
    metric = OperationalAttemptMetric.objects.get()
    assert (metric.stage, metric.attempt_kind, metric.attempt, metric.outcome) == (kind, "step", 2, "succeeded")
    assert (metric.run_id, metric.counts, metric.error_class) == ("run-a", {"postings": 3}, "")
    assert metric.source_role == ("ats" if kind is StepKind.SOURCE_FAMILY else "")
    assert metric.duration_ms < 60_000


def test_a_step_that_fails_says_why_in_our_own_words() -> None:
    with pytest.raises(NotConfigured), recorded_step(REF, StepKind.SOURCE_PLANNING):
        raise NotConfigured("Nothing of Mara Lindqvist's is set up.")
    metric = OperationalAttemptMetric.objects.get()
    assert (metric.outcome, metric.error_class) == ("failed", "configuration")
    assert metric.error_message == ("Something is not set up. Run the doctor command; it names what is missing.")


def test_a_canceled_step_is_not_a_failed_one() -> None:
    from temporalio.exceptions import CancelledError

    with pytest.raises(CancelledError), recorded_step(REF, StepKind.ENRICHMENT_PASS):
        raise CancelledError("canceled")
    assert read("outcome", "error_class") == [("canceled", "canceled")]


def test_only_the_first_end_of_a_step_counts() -> None:
    start_step(REF, StepKind.ENRICHMENT_PASS)
    complete_step(REF, StepKind.ENRICHMENT_PASS, counts={"succeeded": 4})
    complete_step(REF, StepKind.ENRICHMENT_PASS, counts={"succeeded": 4})
    fail_step(REF, StepKind.ENRICHMENT_PASS, error_code="RUN_ENDED")
    assert read("outcome") == ["succeeded"]


def test_a_printing_is_measured_by_its_stage_alone() -> None:
    start_step(REF, StepKind.PDF_RENDER, item_key="a-job")
    complete_step(REF, StepKind.PDF_RENDER, item_key="a-job", counts={"pages": 2})
    assert read("outcome") == []


def test_a_canceled_stage_leaves_its_row(cast: Cast, stages: Stages) -> None:
    work_job(cast.backend, ENRICH, StageContext(FIRST_RUN, PROFILE_VERSION, is_cancelled=lambda: True))
    assert read("stage", "attempt", "outcome", "error_class", "run_id", "job_id") == [
        ("enrich", 1, "canceled", "CANCELED", FIRST_RUN.run_id, cast.backend)
    ]


def test_what_a_canceled_run_still_held_leaves_its_row(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH)
    end = WorkflowOutcome(FIRST_RUN.workflow_id, FIRST_RUN.run_id, "JobPreparationWorkflow", RunStatus.CANCELED)
    record_outcome(end)
    record_outcome(end)
    assert read("outcome", "job_id") == [("canceled", cast.backend)]


def test_a_lost_lease_is_counted_apart_from_a_failure(cast: Cast, stages: Stages) -> None:
    """A second activity attempt takes the row over while the first is still at it."""

    def overtaken(first: Claim) -> str:
        claim(first.job_id, ENRICH, Owner(FIRST_RUN.workflow_id, FIRST_RUN.run_id, 2))
        return "result"

    stages[ENRICH].script = [overtaken]
    done = work_job(cast.backend, ENRICH, StageContext(FIRST_RUN, PROFILE_VERSION))

    assert done.report.code == "LEASE_LOST"
    assert read("attempt", "outcome", "error_class") == [
        (1, "abandoned", "WORKER_LOST"),
        (1, "lease_lost", "LEASE_LOST"),
    ]
    assert all(read("error_message"))


def test_a_failure_that_comes_too_late_is_a_lost_lease_as_well(cast: Cast, stages: Stages) -> None:
    def overtaken(first: Claim) -> str:
        claim(first.job_id, ENRICH, Owner(FIRST_RUN.workflow_id, FIRST_RUN.run_id, 2))
        raise StageFailure("No text.", code="NO_CONTENT")

    stages[ENRICH].script = [overtaken]
    work_job(cast.backend, ENRICH, StageContext(FIRST_RUN, PROFILE_VERSION))
    assert read("outcome") == ["abandoned", "lease_lost"]


def test_the_admin_finds_them_by_step(cast: Cast) -> None:
    with recorded_step(REF, StepKind.PREPARATION_FANOUT):
        pass
    operator: Client = sign_in()
    url = "/admin/operations/operationalattemptmetric/?stage="
    assert "succeeded" in operator.get(f"{url}preparation_fanout").content.decode()
    assert "succeeded" not in operator.get(f"{url}source_family").content.decode()
