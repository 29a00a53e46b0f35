"""Retry and run: once the reset is committed its run is promised, and is started however often its start gets lost."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from operations.contracts import StageName, StageState
from operations.errors import WorkerUnavailable
from operations.models import FrozenStart, WorkflowRunProjection
from operations.services import frozen_starts
from operations.services.frozen_starts import freeze_start, repeat_starts
from operations.services.starts import Started, StartRequest, build_pipeline_start
from operations.temporal import call_temporal
from tests.operations.api.conftest import Script, note_worker
from tests.operations.api.test_act_on_jobs import act
from tests.operations.cast import Cast, get_row, put_row
from tests.temporal import TemporalServer

ENRICH = StageName.ENRICH


def lose_temporal(requests: Sequence[StartRequest]) -> list[Started]:
    raise WorkerUnavailable("Temporal did not answer.")


def let_time_pass() -> None:
    FrozenStart.objects.update(created_at=timezone.now() - timedelta(seconds=11))


def read_input(workflow_id: str) -> Any:
    """What the started workflow was given, and how many runs there are under its ID."""

    async def read(client: Any) -> Any:
        history = await client.get_workflow_handle(workflow_id).fetch_history()
        payloads = history.events[0].workflow_execution_started_event_attributes.input.payloads
        runs = [run async for run in client.list_workflows(f"WorkflowId = '{workflow_id}'")]
        return (await client.data_converter.decode(payloads))[0], len(runs)

    return call_temporal(read)


def test_a_start_that_is_lost_after_the_reset_is_repeated_under_the_same_id(
    script: Script,
    cast: Cast,
    ready: TemporalServer,
    monkeypatch: pytest.MonkeyPatch,
    assert_rebuild_matches: Callable[[], None],
) -> None:
    put_row(cast.backend, ENRICH, StageState.FAILED, attempts=3)
    with monkeypatch.context() as lost:
        lost.setattr(frozen_starts, "start_workflows", lose_temporal)
        answer = act(script, cast.backend, "retry-stage", stage="enrich", key="k")
        let_time_pass()
        assert repeat_starts() == 0
    body = answer.json()
    assert (answer.status_code, body["runId"]) == (202, "")
    assert "will be started under this ID" in body["note"]
    assert (get_row(cast.backend, ENRICH).state, get_row(cast.backend, ENRICH).attempts) == (StageState.PENDING, 0)
    again = act(script, cast.backend, "retry-stage", stage="enrich", key="k").json()
    assert (again["workflowId"], again["runId"]) == (body["workflowId"], "")

    assert repeat_starts() == 1
    assert repeat_starts() == 0

    run = WorkflowRunProjection.objects.get()
    assert (run.workflow_id, run.status, run.summary_json) == (
        body["workflowId"],
        "starting",
        {"stage": "enrich", "jobs": "1"},
    )
    given, runs = read_input(run.workflow_id)
    assert (given["stage"], given["job_ids"], runs) == ("enrich", [str(cast.backend)], 1)
    settled = act(script, cast.backend, "retry-stage", stage="enrich", key="k").json()
    assert (settled["workflowId"], settled["runId"], settled["existing"]) == (run.workflow_id, run.run_id, True)
    assert "note" not in settled
    assert_rebuild_matches()


def test_a_start_that_was_accepted_and_not_noted_is_not_made_twice(
    script: Script, cast: Cast, ready: TemporalServer
) -> None:
    put_row(cast.backend, ENRICH, StageState.FAILED)
    body = act(script, cast.backend, "retry-stage", stage="enrich").json()
    assert not FrozenStart.objects.exists()
    given, _ = read_input(body["workflowId"])
    FrozenStart.objects.create(
        workflow_id=body["workflowId"],
        workflow_type="JobPipelineWorkflow",
        argument=given,
        summary={},
        created_at=timezone.now() - timedelta(minutes=1),
    )

    assert repeat_starts() == 1

    assert read_input(body["workflowId"])[1] == 1
    assert WorkflowRunProjection.objects.get().run_id == body["runId"]


def test_enrich_is_retried_without_a_profile(
    script: Script, cast: Cast, temporal: TemporalServer, settings: Any
) -> None:
    settings.TEMPORAL_ADDRESS = temporal.address
    note_worker()
    put_row(cast.backend, ENRICH, StageState.FAILED)
    assert act(script, cast.backend, "retry-stage", stage="enrich").status_code == 202


def test_a_young_start_is_left_to_whoever_makes_it_and_a_bad_one_stops_no_other(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def start(requests: Sequence[StartRequest]) -> list[Started]:
        asked.append(requests[0].workflow_id)
        if requests[0].workflow_id == bad.workflow_id:
            raise ValueError("refused")
        return [Started(requests[0].workflow_id, "r", existing=False)]

    monkeypatch.setattr(frozen_starts, "start_workflows", start)
    bad, good = (build_pipeline_start(ENRICH, profile_version=0) for _ in range(2))
    freeze_start(bad)
    assert repeat_starts() == 0
    assert asked == []
    freeze_start(good)
    let_time_pass()
    assert repeat_starts() == 1
    assert repeat_starts() == 0
    assert sorted(asked) == sorted([bad.workflow_id, good.workflow_id, bad.workflow_id])
    assert FrozenStart.objects.get().tries == 2
