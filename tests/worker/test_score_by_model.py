"""A real worker that asks a model on loopback: it scores, stops at the day's ceiling, and goes on above it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring.contracts import Fit
from tests.boardserver import BoardServer
from tests.modelserver import Asked, ModelServer
from tests.modelwires import Answer, Tokens
from tests.scoring.model_answers import MODEL, ask_for, judge_all, list_lanes, read_lane
from tests.worker.boards import add_boards, build_posting, describe_posting, serve_board
from tests.worker.test_keep_texts_private import BULLET, NAME, POSTING, decode_history, write_profile
from tests.worker.workspace import Workspace

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]

KEY = "sk-brindlewick-0451"
PROMPT = "You read a job posting"
CANARIES = (KEY, PROMPT, POSTING, NAME, BULLET)
DEAR = Tokens(given=1000, made=10_000)  # about two cents of the model that is asked
REQUIREMENTS = (
    ask_for("Strong knowledge of PostgreSQL and query tuning"),
    ask_for("5+ years of professional experience with Python and Django", "experience"),
)


@pytest.fixture
def models(workspace: Workspace) -> Iterator[ModelServer]:
    with ModelServer() as server:
        workspace.environment |= {**server.base_urls, "OPENAI_API_KEY": KEY, "LOG_LEVEL": "INFO"}
        server.usual = answer
        yield server


def answer(asked: Asked) -> Answer:
    if "Are you ready?" in str(asked.body):
        return Answer({"ready": True})
    if read_lane(asked) == "analysis":
        return Answer({"requirements": list(REQUIREMENTS)})
    return judge_all(asked, Fit.DIRECT, tokens=DEAR)


def test_it_scores_by_a_model_until_the_ceiling_and_goes_on_above_it(
    workspace: Workspace, boards: BoardServer, models: ModelServer, tmp_path: Path
) -> None:
    add_jobs(workspace, boards)
    workspace.run("import_profile", write_profile(tmp_path))
    choose(workspace, daily_budget_usd=0.01)

    stopped = run_score(workspace)

    assert (stopped["status"], stopped["errorCode"]) == ("failed", "budget_exceeded")
    assert list_lanes(models) == ["analysis", "score"]
    assert workspace.count_stages("score") == {"succeeded": 1, "pending": 1}
    assert workspace.query("SELECT attempts, reason_code FROM job_stage_states WHERE stage = 'score' AND state = 'pending'") == [
        (0, "budget")
    ]  # fmt: skip

    refused = run_score(workspace)
    assert (refused["status"], refused["errorCode"]) == ("failed", "budget_exceeded")
    assert len(models.requests) == 2

    choose(workspace, daily_budget_usd=5)
    assert run_score(workspace)["status"] == "succeeded"
    assert list_lanes(models) == ["analysis", "score"] * 2
    assert workspace.count_stages("score") == {"succeeded": 2}
    assert {row[0] for row in workspace.query("SELECT engine FROM job_scores")} == {f"openai:{MODEL}"}
    assert workspace.count("llm_attempts", "state = 'counted' AND stage = 'score'") == len(models.requests)

    pause_provider(workspace)
    workspace.wait_until(
        lambda: workspace.count_events("ProviderResumed") == 1, what="the worker has asked the provider by itself"
    )
    assert not workspace.count("llm_provider_breakers")
    assert workspace.stop_worker() == 0
    assert_quotes_nothing(workspace, models)


def add_jobs(workspace: Workspace, boards: BoardServer) -> None:
    """Two enriched jobs, found before there is a profile, so that nothing is prepared of itself."""
    postings = [
        build_posting(number, title="Backend Engineer", url=f"{boards.url}/{number}", content=describe_posting(note=POSTING))
        for number in (1, 2)
    ]  # fmt: skip
    serve_board(boards, "parcels", postings)
    add_boards(workspace, boards, "parcels")
    workspace.start_worker()
    assert workspace.discover() == "succeeded"


def choose(workspace: Workspace, **more: Any) -> None:
    lanes = ("analysis", "score")
    chosen = {"provider": dict.fromkeys(lanes, "openai"), "model": dict.fromkeys(lanes, MODEL), **more}
    workspace.run_python(
        f"from operations.settings_store import change_settings\nchange_settings({chosen!r}, actor='tester')"
    )


def pause_provider(workspace: Workspace) -> None:
    workspace.run_python(
        "from datetime import timedelta\nfrom django.utils import timezone\n"
        "from operations.llm.breaker import pause_provider\n"
        "pause_provider('openai', reason_code='out_of_credit', http_status=402, now=timezone.now() - timedelta(minutes=2))"
    )


def run_score(workspace: Workspace) -> dict[str, Any]:
    started = workspace.run_json("run_stage", "score")
    run_id = str(started["runId"])
    status = workspace.wait_for_run(run_id, seconds=120)
    (code,) = workspace.query("SELECT error_code FROM workflow_run_projections WHERE run_id = %s", run_id)[0]
    return {"status": status, "errorCode": code}


def assert_quotes_nothing(workspace: Workspace, models: ModelServer) -> None:
    """The model was told what belongs to the question, and nothing that runs it keeps any of it."""
    told = str([asked.body for asked in models.requests])
    assert PROMPT in told and POSTING in told and BULLET in told
    assert KEY not in told and NAME not in told
    places = {name: decode_history(history) for name, history in workspace.export_histories().items()}
    places |= {
        table: str(workspace.query(f"SELECT * FROM {table}"))
        for table in ("job_events", "llm_attempts", "llm_spend", "operational_attempt_metrics", "job_stage_states",
                      "workflow_run_projections", "worker_runtime_heartbeats", "employer_analyses")
    }  # fmt: skip
    places["log"] = workspace.read_worker_log()
    found = {(place, canary) for place, text in places.items() for canary in CANARIES if canary in text}
    assert not found
    assert len(places) > 10
