"""Work that the budget or its provider stops: it was not begun, so no attempt of it is used up and nobody asks again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from operations.activities import enrich_jobs, score_job
from operations.contracts import StageBatchInput, StageJobInput, StageName, StageReport, StageState
from operations.errors import OperationsError
from operations.llm.errors import BudgetExceeded, ProviderPaused, WorkWaits
from operations.models import JobEventRow, LlmAttempt, LlmSpend
from operations.settings_store import change_settings
from operations.stage_engine import Claim, StageContext, work_job
from operations.workspace import ensure_workspace
from tests.modelserver import ModelServer
from tests.modelwires import Answer, Refused, Tokens
from tests.operations.asking import Verdict, ask, assert_books_agree, spend
from tests.operations.cast import FIRST_RUN, PROFILE_VERSION, Cast, ScriptedStage, get_row, put_row
from tests.operations.databases import PATIENCE, SharedDatabase

ENRICH, SCORE = StageName.ENRICH, StageName.SCORE
Stages = dict[StageName, ScriptedStage]
THREE = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)
#: 1000 tokens in and 1000 out of gpt-5-mini
COST = 0.00225
GOOD = Answer({"score": 7}, tokens=Tokens(1000, 1000))


def ask_for(claim: Claim) -> str:
    ended = ask("openai")
    if isinstance(ended, OperationsError):
        raise ended
    return "result"


def run(activity: Callable[..., object], given: object) -> object:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=1, retry_policy=THREE)
    return environment.run(activity, given)


@pytest.mark.parametrize(("error", "reason"), [(BudgetExceeded, "budget"), (ProviderPaused, "provider_paused")])
@pytest.mark.parametrize("attempts", [0, 3])
def test_a_stopped_row_waits_with_its_attempt_unconsumed(
    error: type[WorkWaits],
    reason: str,
    attempts: int,
    cast: Cast,
    stages: Stages,
    assert_rebuild_matches: Callable[[], None],
) -> None:
    put_row(cast.backend, ENRICH, StageState.PENDING, attempts=attempts)
    stages[ENRICH].script = [error()]
    result = work_job(cast.backend, ENRICH, StageContext(FIRST_RUN, PROFILE_VERSION))
    assert (result.waits, result.retryable, result.report.code) == (True, False, error.code)
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts, row.reason_code, row.error_code) == (StageState.PENDING, attempts, reason, "")
    put_back = JobEventRow.objects.filter(job_id=cast.backend, event_type="StageReset").get().payload
    assert (put_back["reasonCode"], put_back["attempts"]) == (reason, attempts)
    assert not JobEventRow.objects.filter(event_type="StageFailed").exists()
    assert work_job(cast.backend, ENRICH, StageContext(FIRST_RUN, PROFILE_VERSION)).report.state == "succeeded"
    if not attempts:
        assert_rebuild_matches()


def test_one_job_ends_its_run_with_the_budget(cast: Cast, stages: Stages) -> None:
    put_row(cast.backend, ENRICH, StageState.SUCCEEDED)
    stages[SCORE].script = [BudgetExceeded()]
    given = StageJobInput(str(cast.backend), PROFILE_VERSION, ensure_workspace().identity)
    with pytest.raises(ApplicationError) as failed:
        run(score_job, given)
    assert (failed.value.type, failed.value.non_retryable) == ("budget_exceeded", True)


def test_a_busy_provider_says_when_to_come_back(
    cast: Cast, stages: Stages, one_connection: None, models: ModelServer
) -> None:
    put_row(cast.backend, ENRICH, StageState.SUCCEEDED)
    stages[SCORE].script = [ask_for]
    models.script(Refused(429, retry_after="42"))
    given = StageJobInput(str(cast.backend), PROFILE_VERSION, ensure_workspace().identity)
    with pytest.raises(ApplicationError) as failed:
        run(score_job, given)
    assert (failed.value.type, failed.value.non_retryable) == ("llm_transient", False)
    assert failed.value.next_retry_delay == timedelta(seconds=42)
    row = get_row(cast.backend, SCORE)
    assert (row.state, row.attempts, row.error_code) == (StageState.FAILED, 1, "llm_transient")


def test_an_unusable_answer_fails_its_stage_and_gives_no_result(
    cast: Cast, stages: Stages, one_connection: None, models: ModelServer
) -> None:
    put_row(cast.backend, ENRICH, StageState.SUCCEEDED)
    stages[SCORE].script = [ask_for]
    models.script(*[Answer(text="I think it is a good match.")] * 2)
    given = StageJobInput(str(cast.backend), PROFILE_VERSION, ensure_workspace().identity)
    with pytest.raises(ApplicationError) as failed:
        run(score_job, given)
    assert (failed.value.type, failed.value.non_retryable) == ("LLM_ANSWER_UNUSABLE", False)
    assert get_row(cast.backend, SCORE).state == StageState.FAILED
    assert stages[SCORE].find_result_version(cast.backend) == 0


def test_a_batch_stops_typed_and_leaves_the_rest_untouched(
    cast: Cast, stages: Stages, one_connection: None, models: ModelServer
) -> None:
    change_settings({"daily_budget_usd": COST * 2}, actor="tester")
    stages[ENRICH].script = [ask_for] * 4
    models.usual = GOOD
    with pytest.raises(ApplicationError) as failed:
        run(enrich_jobs, StageBatchInput(PROFILE_VERSION, ensure_workspace().identity))
    assert (failed.value.type, failed.value.non_retryable) == ("budget_exceeded", True)
    rows = [get_row(job_id, ENRICH) for job_id in cast]
    assert [(row.state, row.attempts, row.reason_code) for row in rows] == [
        ("succeeded", 1, ""),
        ("succeeded", 1, ""),
        ("pending", 0, "budget"),
        ("pending", 0, ""),
    ]
    assert failed.value.details == ({"succeeded": 2, "pending": 2},)
    assert len(models.requests) == LlmAttempt.objects.count() == 2
    assert {(attempt.stage, attempt.job_id) for attempt in LlmAttempt.objects.all()} == {("score", None)}


def test_chosen_jobs_end_typed_also_behind_the_one_that_waits(cast: Cast, stages: Stages) -> None:
    """One waits, one was done before, one may not be begun, one would be: nothing of it is asked for any more."""
    put_row(cast.data, ENRICH, StageState.SUCCEEDED)
    put_row(cast.sales, ENRICH, StageState.SKIPPED, reason_code="MIN_SCORE")
    stages[ENRICH].script = [BudgetExceeded()]
    chosen = tuple(str(job_id) for job_id in cast)
    with pytest.raises(ApplicationError) as failed:
        run(enrich_jobs, StageBatchInput(PROFILE_VERSION, ensure_workspace().identity, chosen))
    assert (failed.value.type, failed.value.non_retryable) == ("budget_exceeded", True)
    assert failed.value.details == ({"pending": 2, "succeeded": 1, "skipped": 1},)
    assert [claim.job_id for claim in stages[ENRICH].runs] == [cast.backend]
    last = get_row(cast.office, ENRICH)
    assert (last.state, last.attempts, last.lease_epoch) == (StageState.PENDING, 0, 0)


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("attempt", [1, 3])
def test_a_batch_asks_once_a_provider_that_is_busy_for_long_and_comes_back_when_it_says(
    attempt: int, chosen: bool, cast: Cast, stages: Stages, one_connection: None, models: ModelServer
) -> None:
    stages[ENRICH].script = [ask_for] * 4
    models.script(GOOD)
    models.usual = Refused(429, retry_after="90")
    job_ids = tuple(str(job_id) for job_id in cast) if chosen else None
    environment = ActivityEnvironment()
    environment.info = replace(
        environment.info, attempt=attempt, retry_policy=THREE, start_to_close_timeout=timedelta(hours=1)
    )
    with pytest.raises(ApplicationError) as failed:
        environment.run(enrich_jobs, StageBatchInput(PROFILE_VERSION, ensure_workspace().identity, job_ids))
    rows = [get_row(job_id, ENRICH) for job_id in cast]
    assert [row.state for row in rows] == ["succeeded", "failed", "pending", "pending"]
    assert [row.attempts for row in rows] == [1, 1, 0, 0]
    assert len(models.requests) == 2
    if attempt == 1:
        assert (failed.value.non_retryable, failed.value.next_retry_delay) == (False, timedelta(seconds=90))
    else:
        assert (failed.value.non_retryable, failed.value.type) == (True, "llm_transient")
        assert failed.value.details == ({"succeeded": 1, "failed": 1, "pending": 2},)


def test_a_repair_that_is_denied_leaves_what_was_used_counted(one_connection: None, models: ModelServer) -> None:
    change_settings({"daily_budget_usd": COST}, actor="tester")
    models.script(Answer({"score": "good"}, tokens=Tokens(1000, 1000)), GOOD)
    assert isinstance(ask("openai"), BudgetExceeded)
    assert LlmSpend.objects.get().input_tokens == 1000
    assert_books_agree(models)


def test_eight_workers_cross_a_lane_limit_and_then_the_ceiling(
    shared: SharedDatabase, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was admitted is recorded, at most what was out at that moment; nothing leaves after the first denial."""
    if shared.file is not None:  # the threads of the event loops open connections of their own
        own = {**connections.settings["default"], "NAME": str(shared.file)}
        monkeypatch.setitem(connections.settings, "default", own)
    change_settings({"daily_budget_usd": COST * 20, "lane_token_limits": {"score": 8000}}, actor="tester")
    models.usual = GOOD

    def work(lane: str) -> tuple[str, datetime, int]:
        answers = 0
        while not isinstance(ended := ask("openai", lane=lane), OperationsError):
            answers += ended == Verdict(score=7)
        assert isinstance(ended, BudgetExceeded)
        denied_at = timezone.now()
        asked_again = ask("openai", lane=lane)
        assert isinstance(asked_again, BudgetExceeded) and not asked_again.retryable
        return lane, denied_at, answers

    workers = [shared.start(lambda lane=lane: work(lane)) for lane in ("score", "tailor") * 4]
    ends = [worker.result(PATIENCE * 3) for worker in workers]

    assert sum(answers for _, _, answers in ends) == len(models.requests)
    assert_books_agree(models)
    for lane in ("score", "tailor"):
        first_denied = min(denied_at for of, denied_at, _ in ends if of == lane)
        assert not LlmAttempt.objects.filter(lane=lane, opened_at__gt=first_denied).exists()
    tokens = {row.lane: row.input_tokens + row.output_tokens for row in LlmSpend.objects.all()}
    assert 8000 <= tokens["score"] <= 8000 + 3 * 2000
    assert 20 <= len(models.requests) <= 20 + 7


def test_it_takes_a_waiting_row_up_again_the_next_day(
    cast: Cast, stages: Stages, one_connection: None, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_settings({"daily_budget_usd": 1.0}, actor="tester")
    spend(given=1, usd="1")
    stages[ENRICH].script = [ask_for] * 2
    models.usual = GOOD

    def work(job_id: UUID) -> StageReport:
        return work_job(job_id, ENRICH, StageContext(FIRST_RUN, PROFILE_VERSION)).report

    assert work(cast.backend).code == "budget_exceeded"
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: tomorrow)
    assert work(cast.backend).state == StageState.SUCCEEDED
    assert get_row(cast.backend, ENRICH).attempts == 1
