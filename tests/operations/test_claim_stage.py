"""Claims: who gets a row, who is refused, and what each claim costs."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from discovery.services.jobs import delete_jobs
from operations.contracts import RunStatus, StageName, StageState, WorkflowOutcome
from operations.database import writer
from operations.models import OperationalAttemptMetric
from operations.services.runs import record_cancel_intent, record_outcome
from operations.stage_engine import Owner, Refusal
from tests.operations.cast import (
    FIRST_RUN,
    SECOND_RUN,
    Cast,
    ScriptedStage,
    claim,
    get_row,
    list_types,
    put_row,
    refuse,
)

ENRICH, SCORE, TAILOR = StageName.ENRICH, StageName.SCORE, StageName.TAILOR
Stages = dict[StageName, ScriptedStage]


def test_it_counts_an_attempt_and_takes_the_row(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    given = claim(cast.backend, ENRICH)
    row = get_row(cast.backend, ENRICH)
    assert (given.attempt, given.epoch, given.baseline_version, given.owner) == (1, 1, 0, FIRST_RUN)
    assert (row.state, row.attempts, row.lease_epoch) == (StageState.RUNNING, 1, 1)
    assert (row.owner_workflow_id, row.owner_run_id, row.owner_attempt) == ("prep-first", "run-first", 1)
    assert row.started_at is not None
    assert list_types(job_id=cast.backend)[-1] == "StageStarted"
    assert_rebuild_matches()


def test_it_makes_the_row_of_a_stage_that_has_none_until_it_is_claimed(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    put_row(cast.backend, StageName.COVER, StageState.SUCCEEDED)
    assert claim(cast.backend, StageName.PDF).attempt == 1
    assert_rebuild_matches()


def test_it_waits_for_the_stage_before(cast: Cast, stages: Stages) -> None:
    assert refuse(cast.backend, SCORE) == Refusal(StageState.PENDING, "WAITS_FOR_ENRICH")
    assert get_row(cast.backend, SCORE).attempts == 0
    assert "StageStarted" not in list_types()


def test_it_hands_a_dead_workers_row_to_the_next_attempt_of_the_same_run(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    first = claim(cast.backend, ENRICH)
    second = claim(cast.backend, ENRICH, replace(FIRST_RUN, attempt=2))
    assert (second.attempt, second.epoch) == (first.attempt + 1, first.epoch + 1)
    assert list_types(job_id=cast.backend)[-2:] == ["StageStarted", "StageStarted"]
    assert_rebuild_matches()


def test_it_refuses_a_running_row_to_another_run_and_to_an_older_attempt(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH, replace(FIRST_RUN, attempt=2))
    before = get_row(cast.backend, ENRICH)
    assert refuse(cast.backend, ENRICH, SECOND_RUN) == Refusal(StageState.RUNNING, "OWNED_BY_OTHER_RUN")
    assert refuse(cast.backend, ENRICH, FIRST_RUN) == Refusal(StageState.RUNNING, "LEASE_LOST")
    assert refuse(cast.backend, ENRICH, Owner("prep-first", "run-second", 9)).code == "OWNED_BY_OTHER_RUN"
    after = get_row(cast.backend, ENRICH)
    assert (after.attempts, after.lease_epoch) == (before.attempts, before.lease_epoch)


def test_it_accepts_a_result_that_was_committed_before_the_worker_died(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    claim(cast.backend, ENRICH)
    with writer():
        stages[ENRICH].save_result(cast.backend)
    assert refuse(cast.backend, ENRICH, replace(FIRST_RUN, attempt=2)) == Refusal(StageState.SUCCEEDED, "DONE")

    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts) == (StageState.SUCCEEDED, 1)
    assert list_types(job_id=cast.backend)[-2:] == ["JobEnriched", "StageCompleted"]
    assert stages[ENRICH].runs == []
    assert OperationalAttemptMetric.objects.get().outcome == "succeeded"
    assert_rebuild_matches()


def test_it_does_not_take_an_older_result_for_the_one_that_was_asked_for(cast: Cast, stages: Stages) -> None:
    with writer():
        stages[ENRICH].save_result(cast.backend)
    assert claim(cast.backend, ENRICH).baseline_version == 1
    assert claim(cast.backend, ENRICH, replace(FIRST_RUN, attempt=2)).attempt == 2


def test_it_says_done_for_a_finished_row(cast: Cast, stages: Stages) -> None:
    put_row(cast.backend, ENRICH, StageState.SUCCEEDED)
    before = list_types()
    assert refuse(cast.backend, ENRICH) == Refusal(StageState.SUCCEEDED, "DONE")
    assert list_types() == before


@pytest.mark.parametrize("state", [StageState.BLOCKED, StageState.SKIPPED, StageState.CANCELED, StageState.EXHAUSTED])
def test_it_refuses_a_row_that_waits_for_someone_else(state: StageState, cast: Cast, stages: Stages) -> None:
    put_row(cast.backend, ENRICH, state, reason_code="WHY")
    assert refuse(cast.backend, ENRICH) == Refusal(state, "WHY")


def test_it_tries_a_failed_row_again_only_where_that_may_help(cast: Cast, stages: Stages) -> None:
    put_row(cast.backend, ENRICH, StageState.FAILED, attempts=2, retryable=True)
    put_row(cast.data, ENRICH, StageState.FAILED, attempts=2, retryable=False, error_code="NO_CONTENT")
    assert claim(cast.backend, ENRICH).attempt == 3
    assert refuse(cast.data, ENRICH) == Refusal(StageState.FAILED, "NO_CONTENT")


@pytest.mark.parametrize("state", [StageState.FAILED, StageState.STALE, StageState.QUEUED, StageState.RUNNING])
def test_it_exhausts_a_row_without_attempts_left_and_blocks_what_waits_for_it(
    state: StageState, cast: Cast, stages: Stages
) -> None:
    put_row(cast.backend, ENRICH, StageState.SUCCEEDED)
    put_row(cast.backend, SCORE, StageState.SUCCEEDED)
    put_row(cast.backend, TAILOR, state, attempts=5, owner_run_id="run-first", owner_attempt=1, error_code="X")
    before = len(list_types())
    assert refuse(cast.backend, TAILOR, replace(FIRST_RUN, attempt=2)).state == StageState.EXHAUSTED

    row = get_row(cast.backend, TAILOR)
    assert (row.state, row.attempts, row.retryable, row.error_code) == (StageState.EXHAUSTED, 5, False, "X")
    for name in (StageName.COVER, StageName.APPLY):
        later = get_row(cast.backend, name)
        assert (later.state, later.reason_code, later.blocked_by) == ("blocked", "UPSTREAM_EXHAUSTED", "tailor")
        assert not later.retryable
    assert list_types()[before:] == ["StageExhausted", "StageBlocked", "StageBlocked"]


def test_it_settles_a_refusal_that_says_how(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    stages[ENRICH].refusal = Refusal("blocked", "POSTING_CLOSED", settle_as=StageState.BLOCKED)
    assert refuse(cast.backend, ENRICH).code == "POSTING_CLOSED"
    assert get_row(cast.backend, ENRICH).state == StageState.BLOCKED
    assert get_row(cast.backend, SCORE).reason_code == "UPSTREAM_BLOCKED"
    assert get_row(cast.backend, ENRICH).attempts == 0
    assert_rebuild_matches()


def test_it_leaves_no_row_running_that_may_not_be_started_again(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    """The worker died, and meanwhile the posting may no longer be worked on."""
    claim(cast.backend, ENRICH)
    stages[ENRICH].refusal = Refusal("skipped", "MIN_SCORE")
    assert refuse(cast.backend, ENRICH, replace(FIRST_RUN, attempt=2)).code == "MIN_SCORE"
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts) == (StageState.PENDING, 1)
    assert list_types()[-1] == "StageReset"
    assert_rebuild_matches()


def test_it_gives_no_claim_on_a_deleted_job(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    delete_jobs([cast.backend])
    assert refuse(cast.backend, ENRICH).code == "JOB_DELETED"
    assert claim(cast.data, ENRICH).attempt == 1
    assert_rebuild_matches()


@pytest.mark.parametrize("status", [RunStatus.CANCELED, RunStatus.FAILED, RunStatus.TERMINATED])
def test_it_gives_nothing_to_a_run_that_has_ended(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None], status: RunStatus
) -> None:
    """An activity that starts late: the end has settled the run's rows, and nobody would do so again."""
    record_outcome(WorkflowOutcome("prep-first", "run-first", "JobPreparationWorkflow", status, "internal"))
    assert refuse(cast.backend, ENRICH) == Refusal(StageState.SKIPPED, "RUN_ENDED")
    assert get_row(cast.backend, ENRICH).state == StageState.PENDING
    assert claim(cast.backend, ENRICH, SECOND_RUN).attempt == 1
    assert_rebuild_matches()


def test_it_gives_nothing_to_a_run_that_was_asked_to_stop(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    record_cancel_intent("prep-first", "run-first")
    assert refuse(cast.backend, ENRICH) == Refusal(StageState.CANCELED, "CANCELED")
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts) == (StageState.PENDING, 0)
    assert claim(cast.backend, ENRICH, Owner("prep-first", "run-second")).attempt == 1, "the ID's next run is another"
    assert_rebuild_matches()


def test_it_accepts_a_result_that_was_committed_before_the_cancellation(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH)
    with writer():
        stages[ENRICH].save_result(cast.backend)
    record_cancel_intent("prep-first", "run-first")
    assert refuse(cast.backend, ENRICH, replace(FIRST_RUN, attempt=2)) == Refusal(StageState.SUCCEEDED, "DONE")
    assert get_row(cast.backend, ENRICH).state == StageState.SUCCEEDED
