"""What a start may cost, told before it; and what was spent, beside the run, the job and its steps."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from operations import first_steps
from operations.access.accounts import ensure_operator
from operations.access.tokens import create_token
from operations.contracts import Cohort, ExecutionRef, StageName, StageState
from operations.database import writer
from operations.models import StageCounter, WorkflowRunProjection
from operations.services.executions import link_jobs, plan_job
from operations.spend_estimates import Estimate, list_estimates
from tests.operations.cast import Cast
from tests.operations.spending import attempt, spend, use_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


@pytest.fixture
def script() -> Client:
    _, token = create_token(ensure_operator(), label="tests", now=timezone.now())
    return Client(headers={"Authorization": f"Bearer {token}"})


def read(response: Any) -> str:
    assert response.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode().partition("<main")[2])).split())


def score_jobs(*costs: str, **fields: Any) -> list[UUID]:
    """One call of the lane ``score`` for each job."""
    ids = [uuid4() for _ in costs]
    for job_id, cost in zip(ids, costs, strict=True):
        attempt(cost, job_id=job_id, stage="score", **fields)
    return ids


def estimate(jobs: int | None = 10) -> Estimate:
    (found,) = list_estimates([StageName.SCORE], jobs=jobs, now=timezone.now())
    return found


def test_it_says_nothing_where_the_built_in_engine_works(operator: Client) -> None:
    score_jobs(*["0.02"] * 9)

    assert list_estimates([StageName.SCORE], jobs=10, now=timezone.now()) == []
    assert "What it may cost" not in read(operator.get("/jobs/"))


def test_it_gives_a_range_from_recent_jobs() -> None:
    use_model("score")
    score_jobs("0.01", "0.02", "0.02", "0.03", "0.04")

    found = estimate(10)

    assert (found.sample_size, found.low_usd, found.high_usd) == (5, Decimal("0.01"), Decimal("0.04"))
    assert (found.all_low_usd, found.all_high_usd) == (Decimal("0.1"), Decimal("0.4"))


def test_it_gives_none_for_fewer_than_five_jobs() -> None:
    use_model("score")
    score_jobs("0.01", "0.02", "0.02", "0.03")

    assert (estimate().low_usd, estimate().all_high_usd) == (None, None)


def test_it_counts_only_jobs_that_the_chosen_model_worked_on_and_whose_cost_is_known() -> None:
    use_model("score")
    score_jobs("0.01", "0.02", "0.02", "0.03")
    score_jobs("9.00", model="another-model")
    (job_id,) = score_jobs("0.02")
    attempt(job_id=job_id, stage="score")

    assert estimate().sample_size == 4


def test_it_adds_up_the_lanes_of_a_step() -> None:
    use_model("analysis", "score")
    for job_id in score_jobs(*["0.01"] * 5):
        attempt("0.02", job_id=job_id, stage="score", lane="analysis")
    score_jobs("0.01")

    assert (estimate().sample_size, estimate().low_usd) == (5, Decimal("0.03"))


def test_forms_that_start_work_say_what_a_job_costs_and_what_is_left(
    operator: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_steps, "_steps", [])  # as after the first run
    use_model("score")
    spend("21.10")
    score_jobs("0.01", "0.02", "0.02", "0.03", "0.04")

    for path in ("/", "/jobs/", f"/jobs/{cast.backend}/"):
        page = read(operator.get(path))
        assert "What it may cost: Scoring: $0.01 to $0.04 a job, from 5 recent jobs. Left today: $3.90 ." in page, path


def test_the_api_estimates_a_start(script: Client) -> None:
    use_model("score")
    score_jobs("0.01", "0.02", "0.02", "0.03", "0.04")
    StageCounter.objects.update_or_create(stage="score", state=StageState.PENDING, defaults={"rows": 30})

    body = script.get("/v1/pipeline/actions/run-stage/estimate?stage=score").json()
    few = script.get("/v1/pipeline/actions/run-stage/estimate?stage=score&jobs=2").json()

    assert (body["spends"], body["leftUsd"], body["note"]) == (True, 25.0, "")
    assert body["estimates"][0] | {"lanes": []} == {
        "stage": "score", "lanes": [], "jobs": 30, "sampleSize": 5, "jobLowUsd": 0.01, "jobHighUsd": 0.04,
        "lowUsd": 0.3, "highUsd": 1.2,
    }  # fmt: skip
    assert few["estimates"][0]["highUsd"] == 0.08


def test_the_api_says_why_there_is_no_estimate(script: Client) -> None:
    use_model("score")

    body = script.get("/v1/pipeline/actions/run-stage/estimate?stage=discover").json()

    assert body["note"] == "No estimate yet: fewer than 5 jobs."
    assert (body["estimates"][0]["jobs"], body["estimates"][0]["lowUsd"]) == (None, None)
    assert not script.get("/v1/pipeline/actions/run-stage/estimate?stage=pdf").json()["spends"]


@pytest.mark.parametrize("query", ["", "stage=apply", "stage=score&jobs=-1", "stage=score&limit=3"])
def test_the_api_refuses_what_it_cannot_estimate(script: Client, query: str) -> None:
    assert script.get(f"/v1/pipeline/actions/run-stage/estimate?{query}").status_code == 400


# --- beside what it was spent for --------------------------------------------------------------


def make_run() -> str:
    row = WorkflowRunProjection.objects.create(
        run_id="run-a", workflow_id="w", workflow_type="JobPipelineWorkflow", status="succeeded",
        first_seen_at=timezone.now(),
    )  # fmt: skip
    return f"/runs/{row.run_id}/"


def test_a_run_says_what_its_calls_cost(operator: Client) -> None:
    path = make_run()
    for cost in ("0.10", "0.02"):
        attempt(cost, run_id="run-a")
    attempt("5.00", run_id="run-b")

    assert "$0.12 for 2 calls of a model" in read(operator.get(path))


def test_a_discovery_says_what_its_own_calls_and_its_preparations_cost(operator: Client, cast: Cast) -> None:
    run = WorkflowRunProjection.objects.create(
        run_id="run-d", workflow_id="discover-local", workflow_type="DiscoverWorkflow", status="succeeded",
        first_seen_at=timezone.now() - timedelta(hours=1),
    )  # fmt: skip
    ref = ExecutionRef("local", run.workflow_id, run.run_id)
    planned = {cast.backend: "prep-a", cast.sales: "prep-b"}
    with writer():
        link_jobs(ref, planned, cohort=Cohort.OBSERVED_THIS_RUN)
        for job_id, workflow_id in planned.items():
            plan_job(ref, job_id, steps=["score"], preparation_workflow_id=workflow_id)
    attempt("0.05", run_id="run-d")
    attempt("0.10", run_id="run-a", workflow_id="prep-a", job_id=cast.backend)
    attempt("", run_id="run-b", workflow_id="prep-b", job_id=cast.sales)
    attempt("7.00", run_id="run-c", workflow_id="run-c", job_id=cast.sales)
    attempt("9.00", run_id="run-0", workflow_id="prep-a", job_id=cast.backend, at=timezone.now() - timedelta(hours=2))

    page = read(operator.get("/runs/run-d/"))

    assert "$0.05 for 1 call of a model" in page
    assert "preparing its jobs: at least $0.10 for 2 calls of a model, of which 1 did not say what they used" in page


def test_a_run_that_asked_no_model_says_nothing_of_cost(operator: Client) -> None:
    page = read(operator.get(make_run()))

    assert "calls of a model" not in page
    assert "$0.00" not in page


def test_unknown_cost_is_said_beside_a_job_and_its_step(operator: Client, cast: Cast) -> None:
    attempt("0.10", job_id=cast.backend, stage="score")
    attempt(job_id=cast.backend, stage="score")

    page = read(operator.get(f"/jobs/{cast.backend}/"))

    assert "At least $0.10 for 2 calls of a model, of which 1 did not say what they used" in page


def test_a_job_none_of_whose_calls_said_its_use_has_an_unknown_cost(operator: Client, cast: Cast) -> None:
    attempt(job_id=cast.backend, stage="score")

    assert "Cost unknown for 1 call of a model" in read(operator.get(f"/jobs/{cast.backend}/"))
