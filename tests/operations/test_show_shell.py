"""What stands around every page, and what the palette finds."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.utils import timezone

from operations.access.accounts import ensure_operator
from operations.context import Shell
from operations.models import (
    JobListProjection,
    JobStageState,
    LlmSpend,
    WorkerRuntimeHeartbeat,
    WorkflowRunProjection,
)
from operations.navigation import Page, add_page, list_links
from operations.settings_store import change_settings
from operations.views.confirming import ask_first
from tests.operations.spending import attempt, pause, spend, use_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def _shell(path: str = "/") -> Shell:
    return Shell(RequestFactory().get(path))


def _beat(worker: str, *, seconds_ago: int, stopped: bool = False) -> None:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    WorkerRuntimeHeartbeat.objects.create(
        worker_id=worker,
        workspace_identity="w",
        task_queue="q",
        process_id=1,
        slots=4,
        slots_busy=3,
        started_at=at,
        last_seen_at=at,
        stopped_at=at if stopped else None,
    )


def _job(title: str = "Platform Engineer", **fields: Any) -> UUID:
    row = JobListProjection.objects.create(
        job_id=uuid4(), title=title, company="Lumen Labs", discovered_at=timezone.now(), **fields
    )
    return row.job_id


def _stage(job_id: UUID, state: str, *, stage: str = "score", retryable: bool = True) -> None:
    JobStageState.objects.create(
        job_id=job_id, stage=stage, state=state, retryable=retryable, updated_at=timezone.now()
    )


def test_it_counts_the_slots_of_living_workers_only() -> None:
    _beat("a", seconds_ago=5)
    _beat("b", seconds_ago=20)
    _beat("c", seconds_ago=50)
    _beat("d", seconds_ago=5, stopped=True)

    assert _shell().worker.text == "Worker 6/8"


def test_it_is_red_without_a_worker_and_says_what_to_do() -> None:
    worker = _shell().worker

    assert (worker.text, worker.tone) == ("No worker", "person")
    assert "Start it" in worker.detail


def test_it_says_that_the_built_in_engine_spends_nothing() -> None:
    assert _shell().spend.text == "Built-in engine, nothing spent"


def test_it_shows_spend_beside_its_limit() -> None:
    LlmSpend.objects.create(day=timezone.now().date(), lane="score", cost_usd=Decimal("1.84"))

    assert _shell().spend.text == "$1.84 of $25.00 today"


@pytest.mark.parametrize(
    ("spent", "text", "tone"),
    [
        ("19.99", r"\$19\.99 of \$25\.00 today", ""),
        ("20.00", r"\$20\.00 of \$25\.00 today, 80 %", "waiting"),
        ("25.00", r"Limit reached: \$25\.00 of \$25\.00, resets in .+", "waiting"),
    ],
)
def test_it_warns_from_80_percent_of_the_limit_on(spent: str, text: str, tone: str) -> None:
    spend(spent)

    fact = _shell().spend

    assert re.fullmatch(text, fact.text)
    assert (fact.tone, fact.url) == (tone, "/spend/")


def test_it_never_shows_unknown_spend_as_nothing(django_assert_num_queries: Any) -> None:
    attempt()
    attempt(lane="analysis")

    unknown = _shell().spend

    assert (unknown.text, unknown.tone) == ("Spent today: unknown", "unknown")
    assert unknown.detail == "What 2 calls used is unknown."

    spend("1.84")
    with django_assert_num_queries(3):
        partly = _shell().spend

    assert (partly.text, partly.tone) == ("at least $1.84 of $25.00 today", "")
    assert partly.detail == "Spent since midnight UTC. What 2 calls used is unknown."


def test_it_warns_of_a_lane_at_its_limit() -> None:
    change_settings({"lane_token_limits": {"score": 1200}}, actor="the test")
    spend("1.00", lane="score", given=1000, made=200)

    fact = _shell().spend

    assert (fact.text, fact.tone) == ("$1.00 of $25.00 today, scoring at its limit", "waiting")


@pytest.mark.parametrize(
    ("limits", "text", "said"),
    [
        ({"score": 1501}, "$1.00 of $25.00 today", "Spent since midnight UTC"),
        ({"score": 1500}, "$1.00 of $25.00 today, scoring near its limit", "At 100 % that work waits"),
        ({"score": 1500, "analysis": 5}, "$1.00 of $25.00 today, some work near its limit", "asks for and scoring"),
    ],
)
def test_it_warns_of_a_lane_from_80_percent_of_its_limit_on(limits: dict[str, int], text: str, said: str) -> None:
    change_settings({"lane_token_limits": limits}, actor="the test")
    spend("1.00", lane="score", given=1000, made=200)
    spend("0.00", lane="analysis", given=4, made=0)

    fact = _shell().spend

    assert (fact.text, fact.tone) == (text, "" if limits["score"] == 1501 else "waiting")
    assert said in fact.detail


def test_a_paused_provider_is_one_notice_and_one_thing_that_needs_a_person(operator: Client) -> None:
    use_model("analysis", "score")
    pause(reason="authentication", next_probe_at=timezone.now() + timedelta(hours=1))

    page = operator.get("/").content.decode()

    assert page.count('id="standing-paused-openai"') == 1
    assert page.count('id="need-paused-openai"') == 1
    assert "It does not accept the key. Mend that, then ask it again." in page
    assert "1 for you" in page


def test_a_paused_provider_that_no_lane_uses_needs_nobody(operator: Client) -> None:
    use_model("score", provider="anthropic")
    pause(next_probe_at=timezone.now() + timedelta(hours=1))

    page = operator.get("/").content.decode()

    assert "paused-openai" not in page
    assert "for you" not in page


def test_it_counts_each_visible_job_that_only_a_person_can_move_on_once() -> None:
    stuck, retried, gone = _job(), _job(), _job(deleted=True)
    _stage(stuck, "failed", retryable=False)
    _stage(stuck, "exhausted", stage="enrich")
    _stage(retried, "failed", retryable=True)
    _stage(gone, "exhausted")

    assert _shell().needs_person == "1"


def test_it_stops_counting_at_a_hundred() -> None:
    for _ in range(100):
        _stage(_job(), "exhausted")

    assert _shell().needs_person == "99+"


def test_it_leaves_out_pages_that_do_not_exist_and_marks_the_current_one() -> None:
    links = {link.label: link for group in list_links("/admin/auth/user/") for link in group.links}

    assert links["Admin"].is_current
    assert [label for label, link in links.items() if link.is_current] == ["Admin"]


@pytest.mark.parametrize(
    "page",
    [
        Page("Again", "admin:index", "Setup", 1),
        Page("Nowhere", "x:y", "Elsewhere", 1),
        Page("Same key", "x:y", "Work", 1, "j"),
    ],
)
def test_it_refuses_a_page_that_would_clash(page: Page) -> None:
    with pytest.raises(ValueError):
        add_page(page)


def test_it_answers_the_topbar_as_a_fragment(operator: Client) -> None:
    html = operator.get("/topbar/").content.decode()

    assert html.lstrip().startswith("<span")
    assert 'data-region="topbar"' in html
    assert "No worker" in html


def test_it_finds_jobs_and_runs_by_a_part_of_their_name(operator: Client) -> None:
    job_id = _job()
    _job("Account Executive", hidden=True)
    WorkflowRunProjection.objects.create(
        run_id="run-1", workflow_id="platform-import", workflow_type="DiscoverWorkflow", status="succeeded"
    )

    found = operator.get("/palette/", {"q": "platf"}).json()

    assert [(entry["label"], entry["url"]) for entry in found["jobs"]] == [("Platform Engineer", f"/jobs/{job_id}/")]
    assert [entry["detail"] for entry in found["runs"]] == ["Done"]


def test_it_finds_ten_at_most_and_nothing_for_nothing(operator: Client) -> None:
    for _ in range(12):
        _job()

    assert len(operator.get("/palette/", {"q": "engineer"}).json()["jobs"]) == 10
    assert operator.get("/palette/", {"q": " "}).json() == {"jobs": [], "runs": []}


@pytest.mark.parametrize("text", ["%", '"', "a\x00b", "x" * 500, "'; --"])
def test_it_survives_any_text(operator: Client, text: str) -> None:
    assert operator.get("/palette/", {"q": text}).status_code == 200


def test_it_asks_once_and_keeps_what_was_posted(rf: RequestFactory) -> None:
    asked = {"title": "Delete this job?", "consequence": "You can restore it.", "label": "Delete job", "back": "/jobs/"}
    request = rf.post("/jobs/1/delete/", {"job": ["1", "2"]}, headers={"referer": "https://elsewhere.example/"})

    page = ask_first(request, **asked)

    assert page is not None
    html = page.content.decode()
    assert "You can restore it." in html
    assert html.count('name="job"') == 2
    assert 'href="/jobs/"' in html
    assert "elsewhere" not in html
    assert ask_first(rf.post("/jobs/1/delete/", {"confirmed": "yes"}), **asked) is None


@pytest.mark.parametrize("status", [400, 403, 404, 500, 503])
def test_it_has_a_page_for_each_refusal_that_needs_nothing(status: int, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        html = render_to_string(f"{status}.html")

    assert f"Answer {status}" in html
    assert 'href="/"' in html


def test_it_answers_an_unknown_address_in_the_shell(operator: Client) -> None:
    response = operator.get("/nowhere/")

    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()
    assert 'class="nav"' in response.content.decode()
