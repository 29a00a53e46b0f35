"""One stage over many jobs, over several attempts of its activity, without a Temporal server."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from discovery.services.jobs import delete_jobs
from operations.activities import enrich_jobs
from operations.contracts import BatchReport, StageBatchInput, StageName, StageState
from operations.errors import StageFailure, TransientStageFailure
from operations.queries import list_stage_candidates
from operations.workspace import ensure_workspace
from tests.operations.cast import PROFILE_VERSION, Cast, ScriptedStage, get_row, put_row

ENRICH, COVER, PDF = StageName.ENRICH, StageName.COVER, StageName.PDF
Stages = dict[StageName, ScriptedStage]
THREE = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)


def enrich(*, attempt: int, limit: int = 0) -> BatchReport:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=attempt, retry_policy=THREE)
    given = StageBatchInput(PROFILE_VERSION, ensure_workspace().identity, limit=limit)
    report = environment.run(enrich_jobs, given)
    assert isinstance(report, BatchReport)
    return report


def test_it_reports_what_an_earlier_attempt_ended_and_fails_for_it(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    stages[ENRICH].script = ["result", StageFailure(code="NO_CONTENT"), TransientStageFailure(), "result"]
    with pytest.raises(ApplicationError, match="will be tried again"):
        enrich(attempt=1)

    report = enrich(attempt=2)

    assert report.counts == {StageState.SUCCEEDED: 3, StageState.FAILED: 1}
    assert [(failure.job_id, failure.code) for failure in report.failures] == [(str(cast.data), "NO_CONTENT")]
    assert_rebuild_matches()


def test_it_works_on_no_more_jobs_than_the_limit_over_all_attempts(cast: Cast, stages: Stages) -> None:
    stages[ENRICH].script = ["result", TransientStageFailure()]
    with pytest.raises(ApplicationError):
        enrich(attempt=1, limit=2)

    assert enrich(attempt=2, limit=2).counts == {StageState.SUCCEEDED: 2}

    assert [claim.job_id for claim in stages[ENRICH].runs] == [cast.backend, cast.data, cast.data]
    assert enrich(attempt=3, limit=2).counts == {StageState.SUCCEEDED: 2}
    assert get_row(cast.sales, ENRICH).state == StageState.PENDING


def test_it_reports_what_still_fails_at_the_last_attempt(cast: Cast, stages: Stages) -> None:
    stages[ENRICH].script = [TransientStageFailure()]
    assert enrich(attempt=3).counts == {StageState.FAILED: 1, StageState.SUCCEEDED: 3}


def test_it_never_spends_the_limit_on_a_deleted_job(cast: Cast, stages: Stages) -> None:
    delete_jobs([cast.backend])
    assert list_stage_candidates(ENRICH, limit=1) == [cast.data]
    put_row(cast.backend, COVER, StageState.SUCCEEDED)
    assert list_stage_candidates(PDF) == []


@pytest.mark.parametrize("state", [StageState.SUCCEEDED, StageState.EXHAUSTED, StageState.CANCELED, StageState.RUNNING])
def test_it_never_spends_the_limit_on_a_pdf_that_may_not_be_claimed(cast: Cast, stages: Stages, state: str) -> None:
    for job_id in (cast.backend, cast.data):
        put_row(job_id, COVER, StageState.SUCCEEDED)
    put_row(cast.backend, PDF, StageState(state))
    assert list_stage_candidates(PDF, limit=1) == [cast.data]
    put_row(cast.backend, PDF, StageState.FAILED)
    assert list_stage_candidates(PDF) == [cast.backend, cast.data]
