"""Canceling the work on many jobs: one that has ended, or a Temporal that is lost midway, hides nothing of the rest."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from operations.access.accounts import ensure_operator
from operations.contracts import WorkflowStart
from operations.errors import WorkerUnavailable
from operations.models import JobEventRow
from operations.services import cancellation
from operations.services.runs import record_dispatched
from tests.operations.cast import Cast


class Script:
    """Temporal's answers in turn: accepted, not known any more, gone."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    def __call__(self, work: object, **_: object) -> bool:
        answer = self.answers.pop(0)
        if answer == "gone":
            raise WorkerUnavailable("Temporal did not answer. Try again in a moment.")
        return answer == "accepted"


@pytest.fixture
def operator(cast: Cast) -> Client:
    client = Client()
    client.force_login(ensure_operator())
    return client


@pytest.fixture
def temporal_says(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Script]:
    def say(*answers: str) -> Script:
        script = Script(*answers)
        monkeypatch.setattr(cancellation, "call_temporal", script)
        return script

    return say


def start(job_id: UUID, name: str = "prep") -> str:
    run_id = f"run-{name}-{job_id}"
    record_dispatched(WorkflowStart(f"{name}-{job_id}", run_id, "JobPreparationWorkflow", {"jobId": str(job_id)}))
    return run_id


def cancel(client: Client, *job_ids: UUID) -> str:
    fields = {"action": "cancel", "job": [str(job_id) for job_id in job_ids], "confirmed": "yes", "key": "k"}
    return client.post("/jobs/actions/", fields, follow=True).content.decode()


def list_asked() -> set[str]:
    rows = JobEventRow.objects.filter(event_type="WorkflowCancellationRequested")
    return set(rows.values_list("run_id", flat=True))


def test_one_that_has_just_ended_stops_no_other(operator: Client, cast: Cast, temporal_says: Any) -> None:
    runs = [start(job_id) for job_id in (cast.backend, cast.data, cast.sales)]
    temporal_says("accepted", "ended", "accepted")
    page = cancel(operator, cast.backend, cast.data, cast.sales, cast.office)
    assert "Cancel: 2 jobs." in page
    assert "2 jobs left as before: it has already ended." in page
    assert list_asked() == {runs[0], runs[2]}


def test_a_temporal_that_is_lost_midway_hides_nothing(operator: Client, cast: Cast, temporal_says: Any) -> None:
    first, second, third = (start(job_id) for job_id in (cast.backend, cast.data, cast.sales))
    script = temporal_says("accepted", "gone")
    page = cancel(operator, cast.backend, cast.data, cast.sales, cast.office)
    assert "Cancel: 1 job." in page
    assert "2 jobs left as before: no worker is running, or Temporal cannot be reached." in page
    assert "1 job left as before: it has already ended." in page
    assert list_asked() == {first}
    assert script.answers == [], "a Temporal that is gone is not asked again for each of the rest"

    temporal_says("accepted", "accepted", "accepted")
    assert "Cancel: 3 jobs." in cancel(operator, cast.backend, cast.data, cast.sales)
    assert list_asked() == {first, second, third}
    assert JobEventRow.objects.filter(event_type="WorkflowCancellationRequested").count() == 3


def test_without_temporal_nothing_is_said_to_be_done(operator: Client, cast: Cast, temporal_says: Any) -> None:
    start(cast.backend)
    temporal_says("gone")
    page = cancel(operator, cast.backend, cast.data)
    assert "Temporal did not answer. Try again in a moment." in page
    assert "Cancel: " not in page
    assert not list_asked()


def test_a_job_of_two_runs_is_done_where_one_of_them_ended(operator: Client, cast: Cast, temporal_says: Any) -> None:
    start(cast.backend, "a")
    second = start(cast.backend, "b")
    temporal_says("ended", "accepted")
    assert "Cancel: 1 job." in cancel(operator, cast.backend)
    assert list_asked() == {second}


@pytest.mark.parametrize(
    ("answers", "status", "body"),
    [
        (["accepted", "accepted"], 200, None),
        (["accepted", "ended"], 200, None),
        (["ended", "ended"], 409, "not_cancelable"),
        (["gone"], 503, "worker_runtime_unavailable"),
        (["accepted", "gone"], 503, "worker_runtime_unavailable"),
    ],
)
def test_the_api_says_the_same_of_one_job(
    operator: Client, cast: Cast, temporal_says: Any, answers: list[str], status: int, body: str | None
) -> None:
    start(cast.backend, "a")
    start(cast.backend, "b")
    temporal_says(*answers)
    answer = operator.post(f"/v1/jobs/{cast.backend}/actions/cancel", json.dumps({}), content_type="application/json")
    assert answer.status_code == status
    if body is None:
        assert answer.json() == {"done": [str(cast.backend)], "refused": {}}
    else:
        assert answer.json()["error"] == body
    if answers == ["accepted", "gone"]:
        assert "Ask again" in answer.json()["message"]
