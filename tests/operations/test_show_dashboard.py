"""The first page: what needs a person, what was done today, and that its start form starts one run."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from operations import queries, starters
from operations.access.accounts import ensure_operator
from operations.contracts import StageName
from operations.models import JobEventRow, StageCounter, WorkflowRunProjection
from operations.services.starts import Started
from operations.stage_engine import settle_failure
from operations.views.today import read_today
from tests.operations.cast import Cast, ScriptedStage, claim
from tests.operations.spending import attempt, spend

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MIDNIGHT = NOON.replace(hour=0)
WEEK = timedelta(days=7)


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def put_event(event_type: str, at: datetime) -> int:
    return JobEventRow.objects.create(event_type=event_type, payload={}, recorded_at=at).pk


def put_run(
    run_id: str,
    status: str,
    *,
    hours_ago: float = 1,
    workflow_id: str = "",
    workflow_type: str = "DiscoverWorkflow",
    job_id: UUID | None = None,
    **fields: Any,
) -> None:
    at = timezone.now() - timedelta(hours=hours_ago)
    WorkflowRunProjection.objects.create(
        run_id=run_id,
        workflow_id=workflow_id or f"w-{run_id}",
        workflow_type=workflow_type,
        status=status,
        job_id=job_id,
        first_seen_at=at,
        started_at=at,
        **fields,
    )


def list_bad() -> list[str]:
    return [run.run_id for run in queries.list_bad_runs(since=timezone.now() - WEEK, limit=10)]


# --- today -------------------------------------------------------------------------------------


def test_it_counts_what_was_recorded_since_midnight_utc() -> None:
    for name, at in (
        ("JobDiscovered", MIDNIGHT - timedelta(seconds=1)),
        ("JobScored", MIDNIGHT - timedelta(hours=3)),
        ("JobDiscovered", MIDNIGHT),
        ("JobDiscovered", MIDNIGHT + timedelta(hours=1)),
        ("StageFailed", MIDNIGHT + timedelta(hours=2)),
        ("StageExhausted", MIDNIGHT + timedelta(hours=2)),
        ("PdfRendered", MIDNIGHT + timedelta(hours=3)),
    ):
        put_event(name, at)

    today = read_today(NOON)

    assert today.since == MIDNIGHT
    assert {figure.label: figure.value for figure in today.figures} == {
        "Found": "2", "Scored": "0", "Documents": "1", "Failed": "2", "Spent": "Nothing"
    }  # fmt: skip
    assert today.figures[-1].detail == "the built-in engine costs nothing"


def test_it_never_shows_unknown_spend_as_nothing() -> None:
    attempt(at=NOON - timedelta(hours=1))
    assert read_today(NOON).figures[-1].value == "Unknown"

    spend("0.004", day=NOON.date())
    assert read_today(NOON).figures[-1].value == "More than $0.00"


@pytest.mark.parametrize("today", [0, 1, 5])
def test_it_finds_the_first_event_of_a_day_among_many(today: int) -> None:
    for number in range(40):
        put_event("JobScored", MIDNIGHT - timedelta(hours=1, seconds=40 - number))
    ids = [put_event("JobScored", MIDNIGHT + timedelta(seconds=number)) for number in range(today)]
    newest = JobEventRow.objects.order_by("-id").values_list("id", flat=True)[0]

    assert queries.find_first_event_since(MIDNIGHT) == (ids[0] if ids else newest + 1)
    assert queries.find_first_event_since(MIDNIGHT) == (ids[0] if ids else newest + 1)


def test_it_looks_for_the_days_first_event_only_once(django_assert_max_num_queries: Any) -> None:
    for number in range(-50, 50):
        put_event("JobScored", MIDNIGHT + timedelta(seconds=number))
    queries.find_first_event_since(MIDNIGHT)

    with django_assert_max_num_queries(2):
        queries.find_first_event_since(MIDNIGHT)


# --- needs you ---------------------------------------------------------------------------------


def test_it_names_runs_that_ended_badly_until_a_later_one_takes_them_up() -> None:
    put_run("old", "failed", hours_ago=24 * 8)
    put_run("first", "failed", hours_ago=5, workflow_id="discover-local")
    put_run("second", "timed_out", hours_ago=4, workflow_id="discover-local")
    put_run("other", "terminated", hours_ago=3)
    put_run("assumed", "terminated", hours_ago=3, provisional=True)
    put_run("canceled", "canceled")

    assert list_bad() == ["other", "second"]

    put_run("third", "succeeded", workflow_id="discover-local")
    assert list_bad() == ["other"]


def test_it_takes_a_preparation_for_mended_once_its_job_was_prepared() -> None:
    job_id = uuid4()
    put_run("prep", "failed", hours_ago=3, workflow_type="JobPreparationWorkflow", job_id=job_id)
    put_run("step", "failed", hours_ago=2, workflow_type="JobPipelineWorkflow", summary_json={"stage": "score"})
    put_run("prep-again", "succeeded", workflow_type="JobPreparationWorkflow", job_id=job_id)
    assert list_bad() == ["step"]

    put_run("other-step", "succeeded", workflow_type="JobPipelineWorkflow", summary_json={"stage": "tailor"})
    assert list_bad() == ["step"]
    put_run("same-step", "succeeded", workflow_type="JobPipelineWorkflow", summary_json={"stage": "score"})
    assert list_bad() == []


def test_the_dashboard_and_the_topbar_name_a_failed_run_with_its_remedy(operator: Client) -> None:
    put_run("bad", "failed", error_code="configuration")

    page = operator.get("/").content.decode()

    assert 'id="needs-you"' in page and 'href="/runs/bad/"' in page
    assert "Run the doctor command" in page
    assert re.search(r'class="fact person" href="/#needs-you"[^>]*>1 for you<', page)


def test_the_topbar_counts_jobs_and_runs_together(
    operator: Client, cast: Cast, stages: dict[StageName, ScriptedStage]
) -> None:
    settle_failure(claim(cast.backend, StageName.ENRICH), code="NO_CONTENT", message="", retryable=False)
    assert 'href="/jobs/?needs=me" title' in operator.get("/topbar/").content.decode()

    put_run("bad", "failed")
    assert "2 for you" in operator.get("/topbar/").content.decode()


# --- its form ----------------------------------------------------------------------------------


@pytest.mark.parametrize("has_begun", [False, True])
def test_the_same_form_sent_twice_starts_one_run(
    has_begun: bool, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the form of the first steps; the key that it carries is what the start is known by."""
    from operations import first_steps

    asked: list[str] = []

    def start(order: starters.StartOrder) -> Started:
        asked.append(order.idempotency_key)
        return Started("discover-local", "r-1", existing=len(asked) > 1)

    monkeypatch.setattr("operations.views.dashboard.start_stage", start)
    steps = [] if has_begun else [step for step in first_steps._steps if step.place == 30]
    monkeypatch.setattr(first_steps, "_steps", steps)
    StageCounter.objects.create(stage="enrich", state="pending", rows=1)
    page = operator.get("/").content.decode()
    (form,) = re.findall(r'<form method="post" action="/start/".*?</form>', page, re.DOTALL)
    (key,) = re.findall(r'name="key" value="([^"]+)"', form)

    answers = [operator.post("/start/", {"key": key}) for _ in range(2)]

    assert UUID(key) and asked == [key, key]
    assert [answer["Location"] for answer in answers] == ["/runs/r-1/", "/runs/r-1/"]


# --- cost --------------------------------------------------------------------------------------


@pytest.mark.skipif("postgres" in str(connection.vendor), reason="one database is enough")
def test_it_costs_few_statements(operator: Client, django_assert_max_num_queries: Any) -> None:
    StageCounter.objects.create(stage="enrich", state="pending", rows=1)
    put_event("JobScored", timezone.now())
    operator.get("/")

    with django_assert_max_num_queries(50):
        operator.get("/")


def test_the_bars_stand_in_a_table_too(operator: Client) -> None:
    StageCounter.objects.create(stage="enrich", state="succeeded", rows=7)
    StageCounter.objects.create(stage="score", state="exhausted", rows=2)

    page = operator.get("/").content.decode()

    table = page[page.index("The same as a table") :]
    rows = [re.sub(r"\s*<[^>]+>\s*", "|", row) for row in re.findall(r"<tr><td>.*?</tr>", table)]
    assert rows[:2] == ["||Posting read||7||7||–||", "||Scored||0||7||2 failed||"]
