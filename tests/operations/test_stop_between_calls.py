"""Whoever is told to stop lets the call that is out come to its end, and begins no other."""

from collections.abc import Callable
from typing import Any

import pytest

from operations.contracts import RunStatus, StageName, StageState, WorkflowOutcome
from operations.llm import transport
from operations.llm.ledger import count_attempt
from operations.models import LlmAttempt, LlmSpend
from operations.services.runs import record_cancel_intent, record_outcome
from operations.stage_engine import Claim, StageContext, work_job
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


def test_no_repair_leaves_for_a_run_that_was_canceled(
    cast: Cast,
    stages: Stages,
    models: ModelServer,
    once_counted: Callable[[Callable[[], None]], None],
) -> None:
    put_row(cast.backend, StageName.ENRICH, StageState.SUCCEEDED)
    stages[SCORE].script = [ask_model_for]
    models.script(WRONG, GOOD)
    once_counted(cancel_run)

    result = work_job(cast.backend, SCORE, StageContext(FIRST_RUN, PROFILE_VERSION))

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
    put_row(cast.backend, StageName.ENRICH, StageState.SUCCEEDED)
    stages[SCORE].script = [ask_model_for]
    models.script(WRONG, GOOD)
    once_counted(end_run)

    result = work_job(cast.backend, SCORE, StageContext(FIRST_RUN, PROFILE_VERSION))

    assert result.report.code == "LEASE_LOST"
    assert get_row(cast.backend, SCORE).error_code == "OWNER_ENDED"
    assert list_attempts() == ["counted 200"]
