"""The runs page and a run's page: what a person may ask, and what they are told."""

import re
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from discovery.models import DiscoveryRun, DiscoveryRunSource
from discovery.services.sources import register_source
from operations.access.accounts import ensure_operator
from operations.contracts import ExecutionRef, RunStatus, StepKind, WorkflowOutcome, WorkflowStart
from operations.models import PendingActivity
from operations.services.pending import SeenActivity, record_pending
from operations.services.runs import record_outcome, record_started
from operations.services.steps import fail_step, start_step
from operations.temporal_probe import TemporalAnswer, TemporalState, temporal_probe
from tests.operations.cast import Cast
from tests.operations.spending import attempt

pytestmark = pytest.mark.django_db

RUN = "run-1"
REF = ExecutionRef("local", "discover-local", RUN)
RETRY = SeenActivity("crawl_source_family", 2, 3, "waiting", "source_unavailable", timezone.now())


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def read(response: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def start(run_id: str = RUN, *, job_id: object = None, kind: str = "DiscoverWorkflow") -> None:
    summary = {"jobId": str(job_id)} if job_id else {}
    record_started(WorkflowStart("discover-local" if job_id is None else f"prep-{run_id}", run_id, kind, summary))


def end(run_id: str = RUN, status: RunStatus = RunStatus.FAILED, code: str = "source_unavailable") -> None:
    record_outcome(WorkflowOutcome("discover-local", run_id, "DiscoverWorkflow", status, code))


def note_board(board: str, *, state: str = "failed", code: str = "", retryable: bool = True, label: str = "") -> None:
    source_id = register_source("greenhouse", board, label=label)
    DiscoveryRun.objects.get_or_create(
        run_id=RUN, defaults={"workflow_id": "discover-local", "started_at": timezone.now()}
    )
    DiscoveryRunSource.objects.create(
        run_id=RUN, source_id=source_id, family="ats", state=state, error_code=code, retryable=retryable,
        counts={"postings": 3, "new": 1} if state == "succeeded" else {}, updated_at=timezone.now(),
    )  # fmt: skip


def find_chip(page: Any, word: str) -> str:
    """The tone of the chip that begins so."""
    found = re.search(rf'<span class="chip (\w+)"[^>]*>{re.escape(word)}', unescape(page.content.decode()))
    assert found, (word, read(page))
    return found[1]


# --- one run -----------------------------------------------------------------------------------


def test_a_failed_discovery_names_the_board_and_is_amber_where_nobody_is_needed(operator: Client) -> None:
    start()
    note_board("acme", code="SOURCE_UNAVAILABLE", label="Acme Robotics")
    note_board("good", state="succeeded")
    end()
    page = operator.get(f"/runs/{RUN}/")
    assert find_chip(page, "Failed: Acme Robotics: the site cannot answer now") == "waiting"
    assert "The next run reads it again." in read(page)
    assert "3 postings, 1 new" in read(page)
    assert find_chip(operator.get("/runs/"), "Failed: Acme Robotics") == "waiting"


def test_a_board_that_a_person_must_mend_is_red_and_says_how(operator: Client) -> None:
    start()
    note_board("gone", code="NOT_FOUND", retryable=False)
    note_board("busy", code="RATE_LIMITED")
    end(code="missing_input")
    page = operator.get(f"/runs/{RUN}/")
    assert find_chip(page, "Failed: 2 boards could not be read") == "person"
    assert find_chip(page, "Failed: there is no such board") == "person"
    assert find_chip(page, "Failed: the site asks us to slow down") == "waiting"
    assert "Open its address in a browser and compare the token." in read(page)


def test_a_run_that_failed_of_something_else_does_not_blame_its_boards(operator: Client) -> None:
    start()
    note_board("busy", code="RATE_LIMITED")
    end(code="internal")
    assert find_chip(operator.get(f"/runs/{RUN}/"), "Failed: an unexpected error") == "person"


def test_a_failure_that_will_be_tried_again_is_amber_while_the_run_goes_on(operator: Client) -> None:
    start()
    note_board("acme", code="SOURCE_UNAVAILABLE")
    start_step(REF, StepKind.SOURCE_FAMILY, item_key="ats")
    fail_step(REF, StepKind.SOURCE_FAMILY, error_code="source_unavailable", item_key="ats")
    record_pending({RUN: [RETRY]}, observed_at=timezone.now())
    page = operator.get(f"/runs/{RUN}/")
    assert 'class="chip person"' not in page.content.decode()
    assert "Reading the boards attempt 2 of 3, after the site cannot answer now; next at" in read(page)
    assert find_chip(page, "Will be tried again") == "waiting"
    assert operator.get(f"/runs/{RUN}/?fragment=body").status_code == 200


def test_an_old_observation_is_unknown(operator: Client) -> None:
    start()
    record_pending({RUN: [RETRY]}, observed_at=timezone.now() - timedelta(minutes=2))
    page = operator.get(f"/runs/{RUN}/")
    assert find_chip(page, "Not known now") == "unknown"
    assert "next at" not in read(page)


def test_it_gives_the_command_that_shows_the_history(operator: Client, settings: Settings) -> None:
    settings.TEMPORAL_ADDRESS, settings.TEMPORAL_NAMESPACE = "temporal.example:7233", "my space"
    start("run-2", kind="JobPipelineWorkflow")
    page = operator.get("/runs/run-2/")
    command = "temporal workflow show --address temporal.example:7233 --namespace 'my space' "
    assert f"{command}--workflow-id discover-local --run-id run-2" in unescape(page.content.decode())
    assert "its history" not in read(page)
    settings.TEMPORAL_UI_URL = "http://127.0.0.1:8233/"
    link = "http://127.0.0.1:8233/namespaces/my%20space/workflows/discover-local/run-2/history"
    assert link in operator.get("/runs/run-2/").content.decode()


# --- the list ----------------------------------------------------------------------------------


def test_it_shows_the_job_and_finds_runs_by_it(operator: Client, cast: Cast) -> None:
    start("prep-1", job_id=cast.backend, kind="JobPreparationWorkflow")
    start("prep-2", job_id=cast.sales, kind="JobPreparationWorkflow")
    page = operator.get("/runs/?q=backend+harbour")
    assert f'href="/jobs/{cast.backend}/"' in page.content.decode()
    assert "Backend Engineer Harbour Analytics" in read(page)
    assert "Sales Lead" not in read(page)


def test_it_lists_what_is_tried_again_now(operator: Client) -> None:
    start()
    start("run-2")
    record_pending({RUN: [RETRY]}, observed_at=timezone.now())
    page = operator.get("/runs/?retrying=now")
    assert find_chip(page, "Retrying, attempt 2 of 3") == "waiting"
    assert "/runs/run-2/" not in page.content.decode()
    assert "Retrying now 1" in read(operator.get("/runs/"))

    PendingActivity.objects.update(observed_at=timezone.now() - timedelta(seconds=50))
    assert "Nothing is tried again now" in read(operator.get("/runs/?retrying=now"))


def test_every_filter_is_shown_in_words_and_can_be_taken_away(operator: Client, cast: Cast) -> None:
    query = f"q=word&status=failed&type=DiscoverWorkflow&jobId={cast.backend}&since=2026-11-01&until=2026-11-02&sort=longest"
    page = operator.get(f"/runs/?{query}").content.decode()
    removals = dict(re.findall(r'<a href="([^"]*)" aria-label="Remove the filter ([^"]*)"', page))
    words = {unescape(label) for label in removals.values()}
    assert words == {
        "“word”", "State: Failed", "Kind: Discovery", "Job: Backend Engineer", "From 2026-11-01", "Until 2026-11-02",
        "Longest first",
    }  # fmt: skip
    for url in removals:
        assert operator.get(unescape(url)).status_code == 200
        assert unescape(url).count("=") == query.count("=") - 1


def test_it_names_what_it_refuses(operator: Client) -> None:
    page = operator.get("/runs/?sort=colour&since=yesterday")
    assert page.status_code == 400
    assert "Order: it is none of newest, oldest, longest." in read(page)
    assert "From: it is not a date" in read(page)


def test_how_long_a_run_took_is_folded_from_the_log(operator: Client, assert_rebuild_matches: Any) -> None:
    start()
    end(status=RunStatus.SUCCEEDED, code="")
    assert_rebuild_matches()
    answer = operator.get(f"/v1/workflow-runs/{RUN}").json()
    assert 0 <= answer["durationMs"] < 60_000
    assert answer["pendingActivities"] == []


def test_the_api_tells_what_is_pending_and_whether_that_is_fresh(operator: Client) -> None:
    start()
    record_pending({RUN: [RETRY]}, observed_at=timezone.now())
    (pending,) = operator.get(f"/v1/workflow-runs/{RUN}").json()["pendingActivities"]
    told = (pending["activityType"], pending["attempt"], pending["errorCode"], pending["isFresh"])
    assert told == ("crawl_source_family", 2, "source_unavailable", True)


def test_nothing_is_said_to_run_or_to_be_tried_again_while_temporal_does_not_answer(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    record_pending({RUN: [RETRY]}, observed_at=timezone.now())
    assert "Retrying, attempt 2" in read(operator.get("/runs/"))

    monkeypatch.setattr(temporal_probe, "peek", lambda: TemporalAnswer(TemporalState.UNREACHABLE))
    assert "Retrying, attempt" not in read(operator.get("/runs/"))
    page = read(operator.get(f"/runs/{RUN}/"))
    assert "Not known now" in page
    assert "Will be tried again" not in page


# --- what models cost --------------------------------------------------------------------------


def test_the_list_says_beside_each_run_what_its_models_cost(operator: Client) -> None:
    for run_id in ("told", "partly", "untold", "builtin"):
        start(run_id, job_id=uuid4(), kind="JobPreparationWorkflow")
    attempt("0.25", run_id="told")
    attempt("0.10", run_id="partly")
    attempt(run_id="partly")
    attempt(run_id="untold")

    with CaptureQueriesContext(connection) as captured:
        html = operator.get("/runs/?fragment=list").content.decode()

    said = {
        found[1]: " ".join(found[2].split())
        for found in re.finditer(
            r'id="run-row-(\w+)".*?</a>\s*(?:<span class="where">(.*?)</span>)?\s*</td>', html, re.S
        )
        if found[2]
    }
    assert said == {
        "told": "$0.25 for 1 call of a model",
        "partly": "At least $0.10 for 2 calls of a model, of which 1 did not say what they used",
        "untold": "Cost unknown for 1 call of a model",
    }
    assert sum("llm_attempts" in query["sql"] and "run_id" in query["sql"] for query in captured) == 1
