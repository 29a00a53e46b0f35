"""What starts, stops and resets work over the API: ids, guards, keys, and a runtime that is gone."""

import json
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections
from django.test import Client

from operations.api.base import KEY_LIMIT
from operations.contracts import StageName, StageState
from operations.database import writer
from operations.models import FrozenStart, JobEventRow, JobStageState, StartReceipt, WorkflowRunProjection
from operations.processes.ports import choose_free_port
from operations.services import cancellation, starts
from operations.temporal import call_temporal
from tests.operations.api.conftest import Script, note_worker
from tests.operations.api.test_answer_requests import read_error
from tests.operations.cast import Cast, get_row, put_row
from tests.operations.databases import SharedDatabase
from tests.processes import wait_until
from tests.temporal import TemporalServer

RUN = "/v1/pipeline/actions/run-stage"


def ask(script: Script, path: str, body: dict[str, Any] | None = None, *, key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return script.send("POST", path, json.dumps(body or {}), **headers)


def act(script: Script, job_id: UUID, action: str, *, key: str = "", **body: Any) -> Any:
    return ask(script, f"/v1/jobs/{job_id}/actions/{action}", body, key=key)


def snapshot() -> tuple[list[Any], int]:
    return list(JobStageState.objects.order_by("id").values()), JobEventRow.objects.count()


def count_runs() -> int:
    """Runs that Temporal knows of a pipeline."""

    async def count(client: Any) -> int:
        return sum([1 async for _ in client.list_workflows("WorkflowType = 'JobPipelineWorkflow'")])

    return call_temporal(count)


# --- what needs no workflow --------------------------------------------------------------------


def test_it_hides_deletes_and_restores(script: Script, cast: Cast, assert_rebuild_matches: Any) -> None:
    for action, opposite in (("hide", "unhide"), ("delete", "restore")):
        for name in (action, opposite):
            answer = act(script, cast.backend, name)
            assert (answer.status_code, answer.json()) == (200, {"done": [str(cast.backend)], "refused": {}})
        again = act(script, cast.backend, opposite)
        assert again.json() == {"done": [], "refused": {str(cast.backend): "no_change"}}
    assert_rebuild_matches()


def test_it_resets_a_stage_and_guards_one_at_work(script: Script, cast: Cast) -> None:
    put_row(cast.backend, StageName.ENRICH, StageState.EXHAUSTED, attempts=5)
    answer = act(script, cast.backend, "reset-stage", stage="enrich")
    assert (answer.status_code, answer.json()["done"]) == (200, [str(cast.backend)])
    assert get_row(cast.backend, StageName.ENRICH).state == StageState.PENDING

    put_row(cast.data, StageName.ENRICH, StageState.RUNNING, owner_run_id="r", owner_workflow_id="w")
    before = snapshot()
    refused = read_error(act(script, cast.data, "reset-stage", stage="enrich"), 409, "active_work")
    assert "with the action revoke-stage" in refused["message"]
    read_error(act(script, cast.data, "run-stage", stage="enrich"), 409, "active_work")
    lost = read_error(act(script, cast.data, "revoke-stage", stage="enrich"), 409, "not_eligible")
    assert "Use the action release-stage" in lost["message"]
    read_error(act(script, cast.data, "reset-stage", stage="pdf"), 409, "not_eligible")
    read_error(act(script, cast.data, "cancel"), 409, "not_cancelable")
    assert snapshot() == before


@pytest.mark.parametrize("action", ["run-stage", "retry-stage", "reset-stage", "revoke-stage"])
def test_a_stage_action_must_say_which(script: Script, cast: Cast, action: str) -> None:
    assert list(read_error(act(script, cast.backend, action), 400, "bad_request")["fields"]) == ["stage"]
    assert list(read_error(act(script, cast.backend, action, stage="apply"), 400, "bad_request")["fields"]) == ["stage"]
    assert list(read_error(act(script, cast.backend, action, stag="score"), 400, "bad_request")["fields"]) == ["stag"]


# --- a runtime that is gone --------------------------------------------------------------------


@pytest.mark.parametrize("age", [None, 60])
def test_without_a_worker_nothing_changes(script: Script, cast: Cast, profile: int, age: int | None) -> None:
    if age:
        note_worker(seconds_ago=age)
    put_row(cast.backend, StageName.ENRICH, StageState.FAILED, attempts=3)
    before = snapshot()
    for answer in (
        act(script, cast.backend, "retry-stage", stage="enrich", key="k1"),
        act(script, cast.backend, "run-stage", stage="enrich", key="k2"),
        ask(script, RUN, {"stage": "enrich"}),
        ask(script, RUN, {"stage": "discover"}),
    ):
        body = read_error(answer, 503, "worker_runtime_unavailable")
        assert "manage.py up" in body["message"]
        assert answer["retry-after"]
    assert snapshot() == before
    assert not StartReceipt.objects.exists()
    assert not FrozenStart.objects.exists()


def test_without_temporal_nothing_changes(script: Script, cast: Cast, profile: int, settings: Any) -> None:
    settings.TEMPORAL_ADDRESS = f"127.0.0.1:{choose_free_port()}"
    note_worker()
    put_row(cast.backend, StageName.ENRICH, StageState.FAILED, attempts=3)
    before = snapshot()
    read_error(act(script, cast.backend, "retry-stage", stage="enrich"), 503, "worker_runtime_unavailable")
    assert snapshot() == before


def test_without_a_profile_nothing_changes(script: Script, cast: Cast, temporal: TemporalServer, settings: Any) -> None:
    settings.TEMPORAL_ADDRESS = temporal.address
    note_worker()
    put_row(cast.backend, StageName.SCORE, StageState.FAILED, attempts=3)
    before = snapshot()
    body = read_error(act(script, cast.backend, "retry-stage", stage="score"), 409, "missing_input")
    assert "profile" in body["message"]
    assert snapshot() == before


# --- starting ----------------------------------------------------------------------------------


def test_it_answers_with_the_ids_of_the_run(script: Script, cast: Cast, ready: TemporalServer) -> None:
    answer = ask(script, RUN, {"stage": "enrich", "jobIds": [str(cast.backend)], "limit": 0})
    assert answer.status_code == 202
    body = answer.json()
    assert set(body) == {"runId", "workflowId", "firstExecutionRunId", "existing"}
    assert body["runId"] == body["firstExecutionRunId"]
    run = script.get(f"/v1/workflow-runs/{body['runId']}").json()
    assert (run["workflowId"], run["status"], run["endedAt"]) == (body["workflowId"], "starting", None)
    assert [row["runId"] for row in script.get("/v1/workflow-runs", {"status": "open"}).json()["runs"]] == [
        body["runId"]
    ]


def test_it_retries_a_stage_in_a_run_of_its_own(
    script: Script, cast: Cast, ready: TemporalServer, assert_rebuild_matches: Any
) -> None:
    put_row(cast.backend, StageName.ENRICH, StageState.FAILED, attempts=3)
    first = act(script, cast.backend, "retry-stage", stage="enrich", key="retry-1")
    assert first.status_code == 202, first.content
    assert get_row(cast.backend, StageName.ENRICH).attempts == 0
    # The stage has moved on since: a repeat of the same request answers with what it got, and touches nothing.
    put_row(cast.backend, StageName.ENRICH, StageState.SUCCEEDED)
    again = act(script, cast.backend, "retry-stage", stage="enrich", key="retry-1")
    assert (again.status_code, again.json()["existing"]) == (202, True)
    assert again.json()["runId"] == first.json()["runId"]
    assert get_row(cast.backend, StageName.ENRICH).state == StageState.SUCCEEDED


def test_one_key_starts_one_run(script: Script, cast: Cast, ready: TemporalServer) -> None:
    before = count_runs()
    body = {"stage": "enrich", "jobIds": [str(cast.backend), str(cast.data)]}
    first = ask(script, RUN, body, key="key-1").json()
    again = ask(script, RUN, {**body, "jobIds": body["jobIds"][::-1]}, key="key-1").json()
    assert {**again, "existing": False} == {**first, "existing": False}
    assert again["existing"] is True
    for other in ({"stage": "score"}, {"stage": "enrich"}, {**body, "limit": 1}, {"stage": "discover"}):
        read_error(ask(script, RUN, other, key="key-1"), 409, "conflict")
    read_error(act(script, cast.backend, "run-stage", stage="enrich", key="key-1"), 409, "conflict")
    third = ask(script, RUN, body, key="key-2").json()
    assert third["workflowId"] != first["workflowId"]
    wait_until(lambda: count_runs() - before >= 2, what="Temporal's list, which comes after its answers")
    assert count_runs() - before == 2


@pytest.mark.parametrize("key", ["x" * (KEY_LIMIT + 1)])
def test_a_key_is_bounded(script: Script, ready: TemporalServer, key: str) -> None:
    assert list(read_error(ask(script, RUN, {"stage": "score"}, key=key), 400, "bad_request")["fields"]) == [
        "Idempotency-Key"
    ]


def test_two_clicks_at_once_start_one_run(
    profile: int,
    temporal: TemporalServer,
    settings: Any,
    tmp_path: Any,
    transactional_db: None,
    script: Script,
    shared: SharedDatabase,
) -> None:
    settings.TEMPORAL_ADDRESS = temporal.address
    note_worker()
    key = str(uuid4())
    answers: list[Future[Any]] = [
        shared.start(lambda: ask(_copy(script), RUN, {"stage": "enrich"}, key=key)) for _ in range(4)
    ]
    found = [answer.result() for answer in answers]
    assert [answer.status_code for answer in found] == [202] * 4, [answer.content for answer in found]
    assert len({answer.json()["runId"] for answer in found}) == 1
    assert sorted(answer.json()["existing"] for answer in found) == [False, True, True, True]
    assert WorkflowRunProjection.objects.filter(workflow_id=found[0].json()["workflowId"]).count() == 1
    assert StartReceipt.objects.count() == 1


def _copy(script: Script) -> Script:
    return Script(raise_request_exception=False, headers={"Authorization": script.defaults["HTTP_AUTHORIZATION"]})


def test_whoever_started_the_run_says_so_where_another_wrote_the_receipt(
    cast: Cast, ready: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_workflows = starts.start_workflows
    attached: list[starts.Started] = []

    def start() -> starts.Started:
        return starts.start_pipeline("score", profile_version=1, job_ids=[cast.backend], idempotency_key="of-a-form")

    def start_and_be_overtaken(requests: Sequence[starts.StartRequest]) -> list[starts.Started]:
        started = start_workflows(requests)
        monkeypatch.setattr(starts, "start_workflows", start_workflows)
        attached.append(start())
        return started

    monkeypatch.setattr(starts, "start_workflows", start_and_be_overtaken)
    first = start()

    assert attached == [starts.Started(first.workflow_id, first.run_id, existing=True)]
    assert not first.existing


def test_a_second_discovery_attaches_to_the_first(script: Script, ready: TemporalServer) -> None:
    first = ask(script, RUN, {"stage": "discover"}).json()
    second = ask(script, RUN, {"stage": "discover"})
    assert second.status_code == 202
    assert {**second.json(), "existing": first["existing"]} == first
    assert second.json()["existing"] is True


def test_it_revokes_no_stage_whose_run_has_not_ended_yet(
    script: Script, cast: Cast, ready: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody takes the work here, so the run is asked to stop and stays."""
    monkeypatch.setattr(cancellation, "END_SECONDS", 0.1)
    started = act(script, cast.backend, "run-stage", stage="enrich").json()
    ids = {"owner_workflow_id": started["workflowId"], "owner_run_id": started["runId"]}
    put_row(cast.backend, StageName.ENRICH, StageState.QUEUED, **ids)

    body = read_error(act(script, cast.backend, "revoke-stage", stage="enrich"), 409, "active_work")

    assert "has not ended yet, so nothing was reset. Repeat this in a moment." in body["message"]
    assert script.get(f"/v1/workflow-runs/{started['runId']}").json()["cancelRequested"] is True
    assert get_row(cast.backend, StageName.ENRICH).state == StageState.QUEUED


def test_it_cancels_a_run_and_not_one_that_has_ended(script: Script, cast: Cast, ready: TemporalServer) -> None:
    run_id = ask(script, RUN, {"stage": "enrich"}).json()["runId"]
    path = f"/v1/workflow-runs/{run_id}/actions/cancel"
    assert ask(script, path).status_code == 202
    assert script.get(f"/v1/workflow-runs/{run_id}").json()["cancelRequested"] is True
    (asked,) = JobEventRow.objects.filter(event_type="WorkflowCancellationRequested")
    assert asked.payload["requester"].startswith("operator (token ")
    WorkflowRunProjection.objects.filter(run_id=run_id).update(status="canceled")
    read_error(ask(script, path), 409, "not_cancelable")


def test_it_refuses_unknown_jobs_before_it_starts(script: Script, cast: Cast, ready: TemporalServer) -> None:
    stranger = str(uuid4())
    answer = ask(script, RUN, {"stage": "enrich", "jobIds": [str(cast.backend), stranger]})
    assert stranger in read_error(answer, 404, "not_found")["message"]
    assert not WorkflowRunProjection.objects.exists()


def test_a_deleted_job_is_not_run(script: Script, cast: Cast, ready: TemporalServer) -> None:
    act(script, cast.backend, "delete")
    for action in ("run-stage", "retry-stage"):
        body = read_error(act(script, cast.backend, action, stage="enrich"), 409, "not_eligible")
        assert "Restore" in body["message"]
    assert not WorkflowRunProjection.objects.exists()


# --- a database that is locked -----------------------------------------------------------------


@pytest.mark.skipif(
    "postgres" in str(connection.vendor), reason="SQLite's writer lock; PostgreSQL's is not held by readers"
)
def test_a_locked_database_refuses_writes_and_still_reads(
    profile: int,
    transactional_db: None,
    script: Script,
    visitor: Client,
    shared: SharedDatabase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Noting that a token is used and renewing a session are writes as well, which a read does without."""

    def ask_while_locked() -> list[Any]:
        with connections["default"].cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 100")
        return [
            script.get("/v1/jobs"),
            script.get("/v1/events"),
            script.get("/v1/health"),
            visitor.get("/v1/jobs"),
            script.send("PATCH", "/v1/settings", b'{"min_fit_score": 5}'),
            script.send("POST", "/v1/views", b'{"page": "jobs", "name": "a", "query": ""}'),
        ]

    with writer():
        found = shared.start(ask_while_locked).result()
    assert [answer.status_code for answer in found] == [200, 200, 200, 200, 503, 503]
    for answer in found[4:]:
        assert "Try again" in read_error(answer, 503, "database_unavailable")["message"]
        assert answer["retry-after"]
    assert not JobEventRow.objects.filter(event_type="SettingsChanged").exists()
