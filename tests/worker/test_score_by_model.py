"""A real worker that asks a model on loopback: it scores, stops at the day's ceiling, and goes on above it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring.contracts import Fit
from tests.boardserver import BoardServer
from tests.modelserver import Asked, ModelServer
from tests.modelwires import Answer, Refused, Tokens
from tests.scoring.model_answers import MODEL, ask_for, judge_all, list_lanes, read_lane
from tests.webserver import Web, post_form, running_web
from tests.worker.boards import add_boards, build_posting, describe_posting, serve_board
from tests.worker.test_keep_texts_private import BULLET, NAME, POSTING, decode_history, write_profile
from tests.worker.visiting import find_words, read_api, visit_pages
from tests.worker.workspace import Workspace

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]

TITLE = "Backend Engineer 1"
KEY = "sk-brindlewick-0451"
PROMPT = "You read a job posting"
#: What somebody typed is shown to them, once, in the answer that refuses it.
SHOWN_AGAIN = ("setting", "engine", "filter", "API setting", "API engine", "API no setting")
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
    assert_web_quotes_nothing(workspace, models)
    assert workspace.stop_worker() == 0
    assert_quotes_nothing(workspace, models)


def add_jobs(workspace: Workspace, boards: BoardServer) -> None:
    """Two enriched jobs, found before there is a profile, so that nothing is prepared of itself."""
    postings = [
        build_posting(number, title=f"Backend Engineer {number}", url=f"{boards.url}/{number}", content=describe_posting(note=POSTING))
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


def assert_web_quotes_nothing(workspace: Workspace, models: ModelServer) -> None:
    """Pages and API show a text only where it is at home, and the web process logs none of it."""
    environment = workspace.build_environment() | {"LOG_LEVEL": "DEBUG"}
    del environment["JOBCTRL_WEB_ADDRESS"]
    with running_web(workspace.home, None, **environment) as web:
        answers, refusals = try_provider(web, models), type_key(web)
        places = {**visit_pages(web, workspace, title=TITLE), **read_api(web, workspace, title=TITLE)}
        log = web.log.read_text(errors="replace")
    profile_homes = ("/profile/", "/v1/profile", "/admin/discovery/candidateprofile/")
    posting_homes = (f"/jobs/{workspace.find_job(TITLE)}/", "/admin/discovery/job/", "/admin/discovery/postingcontent")
    homes = {NAME: profile_homes, BULLET: profile_homes, POSTING: posting_homes}
    found = find_words({**places, **answers, "log": log}, CANARIES)
    assert sorted({word for _, word in found}) == sorted(homes), [one for one in found if one[1] not in homes]
    assert [(place, word) for place, word in found if not place.startswith(homes[word])] == []
    assert not [(place, word) for place, word in find_words(refusals, CANARIES) if place not in SHOWN_AGAIN]
    assert "DEBUG" in log and "Bad Request: /v1/settings" in log


def try_provider(web: Web, models: ModelServer) -> dict[str, str]:
    """Ask it by page and API: it answers, refuses the request and refuses the account, and both times quotes the key."""
    wanted, quoted = {"provider": "openai", "model": MODEL}, f"Incorrect API key provided: {KEY}"
    page, action = "/settings/", "/settings/providers/try/"
    operator, asked = web.operator(), len(models.requests)
    post_form(operator, page, to=action, **wanted)
    said = {"works": operator.get(page).text}
    models.script(Refused(400, quoted), Refused(401, quoted))
    said["refused request"] = web.script().post("/v1/settings/actions/test-provider", json=wanted).text
    post_form(operator, page, to=action, **wanted)
    said["refused account"] = operator.get(page).text
    assert len(models.requests) == asked + 3
    assert f"{MODEL} of OpenAI or compatible works" in said["works"]
    assert "(HTTP 400)" in said["refused request"]
    assert "refuses this account" in said["refused account"]
    return said


def type_key(web: Web) -> dict[str, str]:
    """The key, typed and sent where something else belongs; all of that is refused."""
    operator, script = web.operator(), web.script()
    answers = {
        "setting": post_form(operator, "/settings/", to="/settings/", group="Money", daily_budget_usd=KEY),
        "engine": post_form(operator, "/settings/", to="/settings/", group="Engines", **{"provider-score": KEY}),
        "password": post_form(web.visitor(), "/sign-in/", to="/sign-in/", username="operator", password=KEY),
        "filter": operator.get("/jobs/", params={"minScore": KEY}),
        "API setting": script.patch("/v1/settings", json={"daily_budget_usd": KEY}),
        "API engine": script.patch("/v1/settings", json={"provider": {"score": KEY}}),
        "API no setting": script.patch("/v1/settings", json={KEY: 1}),
        "API no JSON": script.patch("/v1/settings", content=KEY, headers={"Content-Type": "application/json"}),
        "API filter": script.get("/v1/jobs", params={"minScore": KEY}),
    }
    assert {answer.status_code for answer in answers.values()} == {400, 403}
    return {name: answer.text for name, answer in answers.items()}
