"""Whoever is told to stop lets the call that is out come to its end, and begins no other."""

from collections.abc import Callable
from typing import Any

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from operations.activities import score_job, score_jobs
from operations.contracts import (
    RunStatus,
    StageBatchInput,
    StageJobInput,
    StageName,
    StageReport,
    StageState,
    WorkflowOutcome,
)
from operations.llm import transport
from operations.llm.ledger import count_attempt
from operations.models import JobEventRow, LlmAttempt, LlmSpend, OperationalAttemptMetric
from operations.services.runs import record_cancel_intent, record_outcome
from operations.stage_engine import Claim, StageContext, WorkResult, work_job
from operations.workspace import ensure_workspace
from tests.modelserver import ModelServer
from tests.modelwires import Answer
from tests.operations.asking import Verdict, list_attempts, put_question
from tests.operations.cast import FIRST_RUN, PROFILE_VERSION, Cast, ScriptedStage, get_row, put_row

pytestmark = pytest.mark.usefixtures("one_connection")

SCORE = StageName.SCORE
Stages = dict[StageName, ScriptedStage]
GOOD, WRONG = Answer({"score": 7}), Answer({"score": "rather good"})


def ask_model_for(claim: Claim) -> Verdict:
    return put_question("openai")


def cancel_run() -> None:
    record_cancel_intent(FIRST_RUN.workflow_id, FIRST_RUN.run_id)


def end_run() -> None:
    record_outcome(WorkflowOutcome(FIRST_RUN.workflow_id, FIRST_RUN.run_id, "JobPipelineWorkflow", RunStatus.FAILED))


@pytest.fixture
def once_counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Let something happen right after the first answer was counted, before anybody looks at what it says."""

    def arrange(happens: Callable[[], None]) -> None:
        def count(*args: Any, **named: Any) -> bool:
            counted = count_attempt(*args, **named)
            if LlmAttempt.objects.count() == 1:
                happens()
            return counted

        monkeypatch.setattr(transport, "count_attempt", count)

    return arrange


def ask_and_repair(cast: Cast, stages: Stages, models: ModelServer) -> WorkResult:
    """One job whose first answer is wrong, so that a repair would leave."""
    put_row(cast.backend, StageName.ENRICH, StageState.SUCCEEDED)
    stages[SCORE].script = [ask_model_for]
    models.script(WRONG, GOOD)
    return work_job(cast.backend, SCORE, StageContext(FIRST_RUN, PROFILE_VERSION))


def test_no_repair_leaves_for_a_run_that_was_canceled(
    cast: Cast,
    stages: Stages,
    models: ModelServer,
    once_counted: Callable[[Callable[[], None]], None],
) -> None:
    once_counted(cancel_run)

    result = ask_and_repair(cast, stages, models)

    assert (result.report.state, result.report.code) == (StageState.CANCELED, "CANCELED")
    assert get_row(cast.backend, SCORE).state == StageState.CANCELED
    assert len(models.requests) == 1
    assert list_attempts() == ["counted 200"]
    assert LlmSpend.objects.get().input_tokens == 100


def test_no_repair_leaves_for_a_run_that_has_ended(
    cast: Cast,
    stages: Stages,
    models: ModelServer,
    once_counted: Callable[[Callable[[], None]], None],
) -> None:
    once_counted(end_run)

    result = ask_and_repair(cast, stages, models)

    assert result.report.code == "LEASE_LOST"
    assert get_row(cast.backend, SCORE).error_code == "OWNER_ENDED"
    assert list_attempts() == ["counted 200"]


def shut_down(environment: ActivityEnvironment) -> None:
    environment.worker_shutdown()


def lose_the_run(environment: ActivityEnvironment) -> None:
    environment.cancel(cancellation_details=ActivityCancellationDetails(not_found=True))


@pytest.mark.parametrize("batch", [False, True], ids=["one job", "a batch"])
@pytest.mark.parametrize("stop", [shut_down, lose_the_run])
def test_a_worker_that_must_stop_hands_back_what_it_had_begun(
    stop: Callable[[ActivityEnvironment], None],
    batch: bool,
    cast: Cast,
    stages: Stages,
    models: ModelServer,
) -> None:
    """Two calls a job, and the worker is told to stop during the first: the second is the next worker's."""
    for job_id in (cast.backend, cast.data):
        put_row(job_id, StageName.ENRICH, StageState.SUCCEEDED)
    environment = ActivityEnvironment()

    def ask_twice(claim: Claim) -> Verdict:
        put_question("openai", lane="analysis")
        stop(environment)
        return put_question("openai")

    stages[SCORE].script = [ask_twice]
    models.usual = GOOD
    identity = ensure_workspace().identity
    with pytest.raises(ApplicationError) as stopped:
        if batch:
            environment.run(score_jobs, StageBatchInput(PROFILE_VERSION, identity))
        else:
            environment.run(score_job, StageJobInput(str(cast.backend), PROFILE_VERSION, identity))

    assert (stopped.value.type, stopped.value.non_retryable) == ("worker_shutdown", False)
    assert [attempt.lane for attempt in LlmAttempt.objects.all()] == ["analysis"]
    rows = [get_row(job_id, SCORE) for job_id in (cast.backend, cast.data)]
    assert [(row.state, row.attempts, row.reason_code) for row in rows] == [(StageState.PENDING, 0, "")] * 2
    assert JobEventRow.objects.get(event_type="StageReset").payload["reasonCode"] == "worker_shutdown"
    assert OperationalAttemptMetric.objects.get().outcome == "released"

    report = ActivityEnvironment().run(score_job, StageJobInput(str(cast.backend), PROFILE_VERSION, identity))
    assert isinstance(report, StageReport) and report.state == StageState.SUCCEEDED
    assert get_row(cast.backend, SCORE).attempts == 1


def test_a_canceled_run_begins_no_further_call_either(cast: Cast, stages: Stages, models: ModelServer) -> None:
    """Temporal's word is enough: its heartbeat may tell before anything of it is logged."""
    put_row(cast.backend, StageName.ENRICH, StageState.SUCCEEDED)
    stages[SCORE].script = [ask_model_for]
    models.script(WRONG, GOOD)
    context = StageContext(FIRST_RUN, PROFILE_VERSION, is_cancelled=lambda: len(models.requests) > 0)

    assert work_job(cast.backend, SCORE, context).report.state == StageState.CANCELED
    assert list_attempts() == ["counted 200"]
