"""The activity page's filters: a job by its words, a run by its ID, each shown and removable."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from operations.access.accounts import ensure_operator
from operations.contracts import WorkflowStart
from operations.services.runs import record_started
from tests.operations.cast import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


def read(response: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def test_words_that_one_job_has_become_a_filter(operator: Client, cast: Cast) -> None:
    answer = operator.get("/activity/?job=office+juniper&type=JobDiscovered")
    assert answer["Location"] == f"/activity/?type=JobDiscovered&jobId={cast.office}"
    page = operator.get(answer["Location"])
    assert "Job: Office Manager" in read(page)
    assert page.content.decode().count('id="event-') == 1


def test_words_that_several_jobs_have_offer_them(operator: Client, cast: Cast) -> None:
    page = operator.get("/activity/?job=harbour")
    assert page.status_code == 200
    assert "Several jobs match. Which one?" in read(page)
    offered = re.findall(r'<li><a href="/activity/\?jobId=([^"]+)">', page.content.decode())
    assert set(offered) == {str(cast.backend), str(cast.data)}


def test_an_id_of_a_job_a_run_or_a_workflow_becomes_a_filter(operator: Client, cast: Cast) -> None:
    record_started(WorkflowStart("discover-local", "run-1", "DiscoverWorkflow", {}))
    assert operator.get(f"/activity/?job={cast.data}")["Location"] == f"/activity/?jobId={cast.data}"
    assert operator.get("/activity/?run=run-1")["Location"] == "/activity/?runId=run-1"
    assert operator.get("/activity/?run=discover-local&runId=x")["Location"] == "/activity/?workflowId=discover-local"
    page = operator.get("/activity/?workflowId=discover-local")
    assert "Workflow: discover-local" in read(page)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("job=zebra", "Job: no job has these words"),
        ("job=qa", "Job: write 3 letters or more"),
        ("run=nobody", "Run: no run and no workflow has this ID"),
        ("run=" + "x" * 201, "Run: it is longer than 200 characters"),
        ("job=%00", "Job: it is longer than 200 characters, or holds what no text holds"),
        ("jobId=x", "Job: it is not an id"),
    ],
)
def test_it_says_what_it_cannot_find_and_keeps_what_was_typed(
    operator: Client, cast: Cast, query: str, told: str
) -> None:
    page = operator.get(f"/activity/?{query}")
    assert page.status_code == 400
    assert told in read(page)
