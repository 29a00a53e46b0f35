"""A run that continues as new ends when its successor starts: once, as completed, holding nothing."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from operations.contracts import RunStatus, StageName, StageState, WorkflowOutcome, WorkflowStart
from operations.models import JobEventRow, WorkflowRunProjection
from operations.services.runs import record_outcome, record_started
from tests.operations.cast import FIRST_RUN, Cast, ScriptedStage, claim, get_row
from tests.operations.continuing import ContinuingWorkflow
from tests.temporal import running_temporal

KIND = "ContinuingWorkflow"
QUEUE = "continuing"


def list_ends() -> list[tuple[str, str, str]]:
    rows = JobEventRow.objects.filter(event_type="WorkflowCompleted").order_by("id")
    return [(row.run_id, row.payload["reasonCode"], row.payload["nextRunId"]) for row in rows]


@pytest.mark.django_db
def test_the_successor_ends_its_predecessor_and_releases_what_it_held(
    cast: Cast, stages: dict[StageName, ScriptedStage], assert_rebuild_matches: Callable[[], None]
) -> None:
    record_started(WorkflowStart(FIRST_RUN.workflow_id, FIRST_RUN.run_id, KIND, {}))
    claim(cast.backend, StageName.ENRICH)
    successor = WorkflowStart(FIRST_RUN.workflow_id, "r-next", KIND, {}, previous_run_id=FIRST_RUN.run_id)

    record_started(successor)
    record_started(successor)

    assert list_ends() == [(FIRST_RUN.run_id, "continued_as_new", "r-next")]
    assert get_row(cast.backend, StageName.ENRICH).state == StageState.FAILED
    former, later = (WorkflowRunProjection.objects.get(run_id=run_id) for run_id in (FIRST_RUN.run_id, "r-next"))
    assert (former.status, former.next_run_id) == ("succeeded", "r-next")
    assert (later.status, later.previous_run_id) == ("in_progress", FIRST_RUN.run_id)
    assert_rebuild_matches()


@pytest.mark.django_db
@pytest.mark.temporal
def test_a_real_run_that_continues_writes_one_end_for_each_of_its_runs(
    tmp_path: Path, assert_rebuild_matches: Callable[[], None]
) -> None:
    written: list[WorkflowStart | WorkflowOutcome] = []

    @activity.defn(name="record_workflow_started")
    async def start(given: WorkflowStart) -> None:
        written.append(given)

    @activity.defn(name="record_workflow_outcome")
    async def end(given: WorkflowOutcome) -> None:
        written.append(given)

    async def go_on(address: str) -> None:
        client = await Client.connect(address)
        async with Worker(client, task_queue=QUEUE, workflows=[ContinuingWorkflow], activities=[start, end]):
            assert await client.execute_workflow(KIND, 2, id="w", task_queue=QUEUE, result_type=int) == 0

    with running_temporal(tmp_path / "temporal.db") as server:
        asyncio.run(asyncio.wait_for(go_on(server.address), 60))
    for given in written:
        if isinstance(given, WorkflowStart):
            record_started(given)
        else:
            record_outcome(given)

    runs = [given.run_id for given in written if isinstance(given, WorkflowStart)]
    assert [given.status for given in written if isinstance(given, WorkflowOutcome)] == [RunStatus.SUCCEEDED]
    assert list_ends() == [
        (runs[0], "continued_as_new", runs[1]),
        (runs[1], "continued_as_new", runs[2]),
        (runs[2], "", ""),
    ]
    assert_rebuild_matches()
