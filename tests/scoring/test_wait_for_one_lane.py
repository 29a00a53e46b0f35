"""A batch of scores while one of its two lanes is at its limit: the other lane's work goes on."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from django.utils import timezone
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from discovery.services.profiles import import_profile
from operations.activities import check_spend_budget, score_jobs
from operations.contracts import SpendPreflight, StageBatchInput
from operations.llm.errors import BudgetExceeded
from operations.models import JobEventRow, LlmSpend
from operations.settings_store import change_settings
from operations.workspace import ensure_workspace
from scoring.queries import find_score_value
from scoring.stages import ScoreStage
from tests.discovery.cast import BACKEND, get_stage_row
from tests.materials.candidate import SAMPLE
from tests.modelserver import Asked, ModelServer
from tests.modelwires import Answer, Refused
from tests.scoring.model_answers import judge_all, list_lanes, read_lane
from tests.scoring.model_cast import analyze, enrich, score, use_models

pytestmark = pytest.mark.usefixtures("one_connection")

Check = Callable[[], None]
BOTH = ("analysis", "score")


@pytest.fixture
def jobs(models: ModelServer) -> list[UUID]:
    """Four; the second and the fourth were read by a model before and not judged."""
    import_profile(SAMPLE.read_bytes())
    use_models(*BOTH)
    jobs = [enrich(replace(BACKEND, external_id=f"R-{number}", apply_url="")) for number in range(1, 5)]
    models.script(*(analyze(), Refused(503)) * 2)
    for job_id in (jobs[1], jobs[3]):
        assert score(job_id, run="an-earlier-run").code == "llm_transient"
    models.clear()
    models.usual = answer
    return jobs


def answer(asked: Asked) -> Answer:
    return analyze() if read_lane(asked) == "analysis" else judge_all(asked)


def fill(*lanes: str) -> None:
    for lane in lanes:
        LlmSpend.objects.update_or_create(
            day=timezone.now().date(), lane=lane, defaults={"input_tokens": 5000, "output_tokens": 0}
        )
    change_settings({"lane_token_limits": dict.fromkeys(lanes, 5000)}, actor="tester")


def score_all(jobs: list[UUID] | None = None) -> ApplicationError:
    chosen = None if jobs is None else tuple(map(str, jobs))
    with pytest.raises(ApplicationError) as ended:
        ActivityEnvironment().run(score_jobs, StageBatchInput(1, ensure_workspace().identity, chosen))
    return ended.value


@pytest.mark.parametrize("chosen", [False, True], ids=["all", "chosen"])
def test_what_was_read_before_is_judged_while_nothing_more_may_be_read(
    chosen: bool, jobs: list[UUID], models: ModelServer, assert_rebuild_matches: Check
) -> None:
    fill("analysis")

    ended = score_all(jobs if chosen else None)

    assert (ended.type, ended.non_retryable) == ("budget_exceeded", True)
    assert ended.details == ({"succeeded": 2, "pending": 2},)
    assert list_lanes(models) == ["score", "score"]
    rows = [get_stage_row(job_id, "score") for job_id in jobs]
    assert [row.state for row in rows] == ["pending", "succeeded", "pending", "succeeded"]
    assert [row.reason_code for row in rows] == ["budget", "", "", ""], "only one had to find out"
    assert JobEventRow.objects.filter(event_type="StageReset").count() == 1
    assert_rebuild_matches()


def test_postings_are_read_while_nothing_more_may_be_judged(jobs: list[UUID], models: ModelServer) -> None:
    fill("score")

    ended = score_all()

    assert (ended.type, ended.details) == ("budget_exceeded", ({"pending": 4},))
    assert list_lanes(models) == ["analysis"] * 2
    assert not any(find_score_value(job_id) for job_id in jobs)


def test_nothing_is_begun_once_both_lanes_are_at_their_limits_or_the_days_money_is_spent(
    jobs: list[UUID], models: ModelServer
) -> None:
    fill(*BOTH)
    score_all()
    change_settings({"lane_token_limits": {}, "daily_budget_usd": 0.5}, actor="tester")
    LlmSpend.objects.update(cost_usd="0.5")
    score_all()

    assert models.requests == []
    assert JobEventRow.objects.filter(event_type="StageReset").count() == 3


def test_a_run_is_only_denied_where_every_lane_it_begins_with_is_at_its_limit(jobs: list[UUID]) -> None:
    scoring = SpendPreflight(("score",))
    for lane in BOTH:
        fill(lane)
        check_spend_budget(scoring)
        check_spend_budget(replace(scoring, job_id=str(jobs[0])))
    fill(*BOTH)
    for given in (scoring, replace(scoring, job_id=str(jobs[0]))):
        with pytest.raises(BudgetExceeded, match="analysis lane"):
            check_spend_budget(given)


def test_a_job_whose_first_lane_cannot_be_told_is_begun(
    jobs: list[UUID], models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_always(stage: ScoreStage, job_id: UUID) -> str:
        raise LookupError("the posting's own words")

    monkeypatch.setattr(ScoreStage, "find_first_lane", raise_always)
    fill("analysis")

    assert score_all().details == ({"succeeded": 2, "pending": 2},)
    assert list_lanes(models) == ["score", "score"]


def test_it_names_the_lane_that_a_job_begins_with(jobs: list[UUID]) -> None:
    lanes = [ScoreStage().find_first_lane(job_id) for job_id in jobs[:2]]
    change_settings({"provider": {"score": "openai"}}, actor="tester")
    assert [*lanes, ScoreStage().find_first_lane(jobs[0])] == ["analysis", "score", "score"]
