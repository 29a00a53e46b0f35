"""A later attempt of an activity: first it ends what its earlier ones, whose worker died, left running."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from temporalio.common import RetryPolicy
from temporalio.testing import ActivityEnvironment

from discovery.services.jobs import delete_jobs
from operations.activities import enrich_jobs, score_job
from operations.contracts import BatchReport, StageBatchInput, StageJobInput, StageName, StageReport, StageState
from operations.database import writer
from operations.models import JobEventRow, OperationalAttemptMetric
from operations.services.stages import reset_stages
from operations.stage_engine import Owner, publish_stage
from operations.stage_engine.settling import Settled, settle_earlier_attempts
from operations.workspace import ensure_workspace
from tests.operations.cast import PROFILE_VERSION, Cast, ScriptedStage, claim, get_row, list_types

ENRICH, SCORE = StageName.ENRICH, StageName.SCORE
Stages = dict[StageName, ScriptedStage]
Check = Callable[[], None]
THREE = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)
INFO = ActivityEnvironment().info
DEAD = Owner(INFO.workflow_id or "", INFO.workflow_run_id or "", 1)


def build_environment(attempt: int) -> ActivityEnvironment:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=attempt, retry_policy=THREE)
    return environment


def enrich(*, attempt: int, limit: int = 0, job_ids: tuple[str, ...] | None = None) -> BatchReport:
    given = StageBatchInput(PROFILE_VERSION, ensure_workspace().identity, job_ids, limit=limit)
    report = build_environment(attempt).run(enrich_jobs, given)
    assert isinstance(report, BatchReport)
    return report


def score(job_id: UUID, *, attempt: int) -> StageReport:
    given = StageJobInput(str(job_id), PROFILE_VERSION, ensure_workspace().identity)
    report = build_environment(attempt).run(score_job, given)
    assert isinstance(report, StageReport)
    return report


def test_it_accepts_a_committed_result_and_makes_the_rest_retryable_with_its_event_and_metric(
    cast: Cast, stages: Stages, assert_rebuild_matches: Check
) -> None:
    claim(cast.backend, ENRICH, DEAD)
    claim(cast.data, ENRICH, DEAD)
    with writer():
        stages[ENRICH].save_result(cast.backend)

    assert enrich(attempt=2).counts == {StageState.SUCCEEDED: 4}

    assert cast.backend not in [given.job_id for given in stages[ENRICH].runs], "nothing is made a second time"
    failure = JobEventRow.objects.get(event_type="StageFailed")
    assert (failure.job_id, failure.payload["errorCode"], failure.payload["retryable"]) == (
        cast.data,
        "WORKER_LOST",
        True,
    )
    metric = OperationalAttemptMetric.objects.get(outcome="failed")
    assert (metric.job_id, metric.attempt, metric.error_class) == (cast.data, 1, "WORKER_LOST")
    assert get_row(cast.data, ENRICH).attempts == 2
    assert_rebuild_matches()


def test_it_leaves_nothing_running_that_the_selection_would_skip(
    cast: Cast, stages: Stages, assert_rebuild_matches: Check
) -> None:
    """Deleted, without its prerequisite, or beyond the limit."""
    claim(cast.backend, ENRICH, DEAD)
    claim(cast.sales, ENRICH, DEAD)
    claim(cast.office, ENRICH, DEAD)
    delete_jobs([cast.backend])

    assert enrich(attempt=2, limit=1).counts == {StageState.SUCCEEDED: 1}

    assert [given.job_id for given in stages[ENRICH].runs] == [cast.data]
    for job_id in (cast.backend, cast.sales, cast.office):
        row = get_row(job_id, ENRICH)
        assert (row.state, row.error_code, row.retryable) == (StageState.FAILED, "WORKER_LOST", True)
    assert_rebuild_matches()


def test_it_leaves_nothing_running_whose_prerequisite_was_undone(cast: Cast, stages: Stages) -> None:
    publish_stage(claim(cast.backend, ENRICH, DEAD), "result")
    claim(cast.backend, SCORE, DEAD)
    reset_stages(ENRICH, [cast.backend])
    assert settle_earlier_attempts(SCORE, replace(DEAD, attempt=2), None) == Settled(failed=1)
    assert get_row(cast.backend, SCORE).state == StageState.FAILED


def test_it_exhausts_what_had_its_last_attempt(cast: Cast, stages: Stages) -> None:
    stages[ENRICH].max_attempts = 1  # type: ignore[misc]
    claim(cast.backend, ENRICH, DEAD)
    report = enrich(attempt=2)
    assert report.counts == {StageState.SUCCEEDED: 3, StageState.EXHAUSTED: 1}
    assert list_types(job_id=cast.backend).count("StageExhausted") == 1


def test_a_single_jobs_activity_touches_no_other_job_of_its_run(
    cast: Cast, stages: Stages, assert_rebuild_matches: Check
) -> None:
    for job_id in (cast.backend, cast.data):
        publish_stage(claim(job_id, ENRICH, DEAD), "result")
        claim(job_id, SCORE, DEAD)

    assert score(cast.backend, attempt=2).state == StageState.SUCCEEDED

    assert get_row(cast.data, SCORE).state == StageState.RUNNING
    assert list_types(job_id=cast.backend).count("StageFailed") == 1
    assert_rebuild_matches()


def test_a_first_attempt_and_an_attempts_own_rows_are_left_alone(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH, replace(DEAD, attempt=2))
    assert settle_earlier_attempts(ENRICH, DEAD, None) == Settled()
    assert settle_earlier_attempts(ENRICH, replace(DEAD, attempt=2), None) == Settled()
    assert get_row(cast.backend, ENRICH).state == StageState.RUNNING
