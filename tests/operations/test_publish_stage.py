"""Publishing behind the fence, and everything that makes a worker lose it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from discovery.services.jobs import delete_jobs, restore_jobs
from operations.contracts import RunStatus, StageName, StageState, WorkflowOutcome
from operations.database import writer
from operations.ended_runs import CancelEvidence, make_cancel_key
from operations.errors import LeaseLost, StageCanceled
from operations.eventlog import append
from operations.events import WorkflowCancellationRequested
from operations.models import JobEventRow, OperationalAttemptMetric
from operations.services.runs import record_cancel_intent, record_outcome
from operations.services.stages import reset_stages
from operations.stage_engine import Claim, Settlement, StageContext, publish_stage, settle_canceled, settle_failure
from operations.stage_engine.work import work_job
from tests.operations.cast import (
    FIRST_RUN,
    PROFILE_VERSION,
    SECOND_RUN,
    Cast,
    ScriptedStage,
    claim,
    get_row,
    list_types,
)

ENRICH, SCORE = StageName.ENRICH, StageName.SCORE
Stages = dict[StageName, ScriptedStage]
CONTEXT = StageContext(FIRST_RUN, PROFILE_VERSION)


def end_run(run_id: str, status: RunStatus) -> None:
    record_outcome(WorkflowOutcome("prep-first", run_id, "JobPreparationWorkflow", status, "internal"))


def assert_fenced(given: Claim) -> None:
    """Neither a result nor a failure nor a cancellation of this claim changes anything any more."""
    rows, types = get_row(given.job_id, given.stage), list_types()
    metrics = OperationalAttemptMetric.objects.count()
    for settle in (
        lambda: publish_stage(given, "result"),
        lambda: settle_failure(given, code="X", message="", retryable=True),
        lambda: settle_canceled(given),
    ):
        with pytest.raises(LeaseLost):
            settle()
    after = get_row(given.job_id, given.stage)
    assert (after.state, after.lease_epoch, after.updated_at) == (rows.state, rows.lease_epoch, rows.updated_at)
    assert list_types() == types
    assert OperationalAttemptMetric.objects.count() == metrics


def test_it_stores_the_result_with_its_row_metric_and_events(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    stages[ENRICH].settlement = Settlement(counts={"characters": 900})
    given = claim(cast.backend, ENRICH)
    publish_stage(given, "result")

    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts, row.error_code) == (StageState.SUCCEEDED, 1, "")
    assert list_types(job_id=cast.backend)[-3:] == ["StageStarted", "JobEnriched", "StageCompleted"]
    metric = OperationalAttemptMetric.objects.get()
    assert (metric.stage, metric.outcome, metric.counts, metric.attempt) == (
        "enrich",
        "succeeded",
        {"characters": 900},
        1,
    )
    assert (metric.run_id, metric.job_id) == ("run-first", cast.backend)
    assert_fenced(given)
    assert_rebuild_matches()


def test_it_refuses_a_predecessor_whose_row_was_taken_over(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    dead = claim(cast.backend, ENRICH)
    living = claim(cast.backend, ENRICH, replace(FIRST_RUN, attempt=2))
    assert_fenced(dead)
    publish_stage(living, "result")
    assert get_row(cast.backend, ENRICH).state == StageState.SUCCEEDED
    assert list_types().count("JobEnriched") == 1
    assert_rebuild_matches()


def test_it_refuses_a_claim_with_the_right_epoch_of_another_run(cast: Cast, stages: Stages) -> None:
    given = claim(cast.backend, ENRICH)
    assert_fenced(replace(given, owner=replace(FIRST_RUN, run_id="run-second")))


def test_it_refuses_what_was_reset_meanwhile(cast: Cast, stages: Stages) -> None:
    given = claim(cast.backend, ENRICH)
    settle_failure(given, code="X", message="", retryable=True)
    reset_stages(ENRICH, [cast.backend])
    assert_fenced(given)
    again = claim(cast.backend, ENRICH)
    assert again.epoch > given.epoch
    assert_fenced(given)


def test_it_publishes_nothing_for_a_deleted_job(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    given = claim(cast.backend, ENRICH)
    delete_jobs([cast.backend])
    assert_fenced(given)
    end_run("run-first", RunStatus.FAILED)
    assert get_row(cast.backend, ENRICH).state == StageState.FAILED

    restore_jobs([cast.backend])
    publish_stage(claim(cast.backend, ENRICH, SECOND_RUN), "result")
    assert get_row(cast.backend, ENRICH).state == StageState.SUCCEEDED
    assert_rebuild_matches()


def test_it_writes_nothing_at_all_when_storing_the_result_fails(
    cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = claim(cast.backend, ENRICH)

    def store_half(claim: Claim, result: object) -> Settlement:
        stages[ENRICH].save_result(claim.job_id)
        raise LookupError

    monkeypatch.setattr(stages[ENRICH], "publish", store_half)
    with pytest.raises(LookupError):
        publish_stage(given, "result")
    assert "JobEnriched" not in list_types()
    assert get_row(cast.backend, ENRICH).state == StageState.RUNNING


# --- cancellation ------------------------------------------------------------------------------


def test_it_cancels_a_row_whose_run_was_canceled_while_it_worked(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    ended = work_job(cast.backend, ENRICH, replace(CONTEXT, is_cancelled=lambda: True))
    assert (ended.report.state, ended.report.code) == (StageState.CANCELED, "CANCELED")
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.reason_code, row.retryable) == (StageState.CANCELED, "workflow_canceled", False)
    assert "JobEnriched" not in list_types()
    [event] = JobEventRow.objects.filter(event_type="StageCanceled")
    assert (event.workflow_id, event.run_id) == ("prep-first", "run-first")
    assert get_row(cast.backend, SCORE).reason_code == "UPSTREAM_CANCELED"
    assert_fenced(stages[ENRICH].runs[0])
    assert_rebuild_matches()


def test_it_publishes_nothing_for_a_run_that_was_asked_to_stop_meanwhile(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    """Its worker has not been told yet: only the recorded request keeps the result out."""

    def ask(given: Claim) -> str:
        record_cancel_intent("prep-first", "run-first")
        return "result"

    stages[ENRICH].script = [ask]
    ended = work_job(cast.backend, ENRICH, CONTEXT)

    assert (ended.report.state, ended.report.code) == (StageState.CANCELED, "CANCELED")
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.reason_code) == (StageState.CANCELED, "workflow_canceled")
    assert "JobEnriched" not in list_types()
    assert_fenced(stages[ENRICH].runs[0])
    assert_rebuild_matches()


@pytest.mark.parametrize("evidence", CancelEvidence)
def test_it_goes_by_every_kind_of_evidence_and_by_the_exact_run(
    evidence: CancelEvidence, cast: Cast, stages: Stages
) -> None:
    given, other = claim(cast.backend, ENRICH), claim(cast.data, ENRICH, replace(FIRST_RUN, run_id="run-second"))
    with writer():
        append(
            WorkflowCancellationRequested(workflow_id="prep-first", run_id="run-first", evidence=evidence),
            key=make_cancel_key("run-first", evidence),
        )
    with pytest.raises(StageCanceled):
        publish_stage(given, "result")
    publish_stage(other, "result")
    assert list_types().count("JobEnriched") == 1


def test_it_skips_a_late_predecessor_and_never_fails_its_successors_row(cast: Cast, stages: Stages) -> None:
    def lose(given: Claim) -> str:
        claim(given.job_id, ENRICH, replace(FIRST_RUN, attempt=2))
        return "result"

    stages[ENRICH].script = [lose]
    ended = work_job(cast.backend, ENRICH, CONTEXT)
    assert (ended.report.state, ended.report.code, ended.retryable) == (StageState.SKIPPED, "LEASE_LOST", False)
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.owner_attempt) == (StageState.RUNNING, 2)


@pytest.mark.parametrize("failure", [LookupError("late"), LeaseLost()])
def test_it_skips_a_late_predecessor_that_failed_too(failure: Exception, cast: Cast, stages: Stages) -> None:
    def lose(given: Claim) -> str:
        claim(given.job_id, ENRICH, replace(FIRST_RUN, attempt=2))
        raise failure

    stages[ENRICH].script = [lose]
    assert work_job(cast.backend, ENRICH, CONTEXT).report.code == "LEASE_LOST"
    assert get_row(cast.backend, ENRICH).state == StageState.RUNNING
    assert "StageFailed" not in list_types()


# --- what an ended run still owns --------------------------------------------------------------


def test_it_settles_only_the_rows_of_the_run_that_ended(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    lost, saved = claim(cast.backend, ENRICH), claim(cast.data, ENRICH)
    claim(cast.sales, ENRICH, replace(FIRST_RUN, run_id="run-second"))
    with writer():
        stages[ENRICH].save_result(cast.data)
    end_run("run-first", RunStatus.FAILED)
    end_run("run-first", RunStatus.FAILED)

    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.error_code, row.retryable, row.attempts) == (StageState.FAILED, "OWNER_ENDED", True, 1)
    assert get_row(cast.data, ENRICH).state == StageState.SUCCEEDED
    assert get_row(cast.sales, ENRICH).state == StageState.RUNNING
    assert list_types().count("JobEnriched") == 1
    assert list_types().count("StageFailed") == 1
    assert_fenced(lost)
    assert_fenced(saved)
    assert_rebuild_matches()


def test_it_exhausts_what_an_ended_run_left_on_its_last_attempt(cast: Cast, stages: Stages) -> None:
    stages[ENRICH].max_attempts = 1  # type: ignore[misc]
    claim(cast.backend, ENRICH)
    end_run("run-first", RunStatus.TIMED_OUT)
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.error_code, row.retryable) == (StageState.EXHAUSTED, "OWNER_ENDED", False)
    assert list_types()[-6:] == ["StageExhausted", *["StageBlocked"] * 4, "WorkflowTimedOut"]


def test_it_cancels_what_a_canceled_run_still_owns_but_keeps_accepted_results(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    lost = claim(cast.backend, ENRICH)
    claim(cast.data, ENRICH)
    with writer():
        stages[ENRICH].save_result(cast.data)
    end_run("run-first", RunStatus.CANCELED)

    assert get_row(cast.backend, ENRICH).state == StageState.CANCELED
    assert get_row(cast.data, ENRICH).state == StageState.SUCCEEDED
    [event] = JobEventRow.objects.filter(event_type="StageCanceled")
    assert (event.workflow_id, event.run_id, event.job_id) == ("prep-first", "run-first", cast.backend)
    assert_fenced(lost)
    assert_rebuild_matches()
