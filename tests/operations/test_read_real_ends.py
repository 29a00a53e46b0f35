"""What a real Temporal server says of runs that ended in every way, and what our records make of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings
from temporalio import workflow
from temporalio.client import Client, WorkflowContinuedAsNewError, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from operations.contracts import RunStatus, WorkflowStart
from operations.models import JobEventRow, WorkflowRunProjection
from operations.queries import OpenRun
from operations.services.describing import Description, Found, describe_run, describe_runs
from operations.services.reconciliation import reconcile_runs
from operations.services.runs import record_started
from tests.temporal import TemporalServer

pytestmark = pytest.mark.temporal

QUEUE = "ends"
SECONDS = 60.0
Handle = WorkflowHandle[Any, Any]


@workflow.defn(name="EndWorkflow", sandboxed=False)
class EndWorkflow:
    """Ends as it is told to; ``wait`` goes on until somebody ends it."""

    @workflow.run
    async def run(self, how: str) -> None:
        match how:
            case "fail":
                raise ApplicationError("A board said no.", type="source_unavailable", non_retryable=True)
            case "fail without a code":
                raise ApplicationError("Something.", non_retryable=True)
            case "go on":
                workflow.continue_as_new("wait")
            case "wait":
                await workflow.wait_condition(lambda: False)


@asynccontextmanager
async def serving(server: TemporalServer) -> AsyncIterator[Client]:
    async with asyncio.timeout(SECONDS):
        client = await Client.connect(server.address)
        async with Worker(client, task_queue=QUEUE, workflows=[EndWorkflow]):
            yield client


async def start(client: Client, how: str, *, workflow_id: str = "", seconds: float | None = None) -> Handle:
    """The handle of this exact run."""
    timeout = None if seconds is None else timedelta(seconds=seconds)
    started = await client.start_workflow(
        "EndWorkflow", how, id=workflow_id or uuid4().hex, task_queue=QUEUE, run_timeout=timeout
    )
    return client.get_workflow_handle(started.id, run_id=started.result_run_id)


async def end(client: Client, how: str) -> Handle:
    """A run that has ended in one way."""
    match how:
        case "cancel" | "terminate":
            handle = await start(client, "wait")
            await (handle.cancel() if how == "cancel" else handle.terminate())
        case "time out":
            handle = await start(client, "wait", seconds=1)
        case _:
            handle = await start(client, how)
    with suppress(WorkflowFailureError, WorkflowContinuedAsNewError):
        await handle.result(follow_runs=False)
    return handle


ENDS = {
    "succeed": Description(Found.CLOSED, RunStatus.SUCCEEDED),
    "fail": Description(Found.CLOSED, RunStatus.FAILED, "source_unavailable"),
    "fail without a code": Description(Found.CLOSED, RunStatus.FAILED, "internal"),
    "cancel": Description(Found.CLOSED, RunStatus.CANCELED),
    "terminate": Description(Found.CLOSED, RunStatus.TERMINATED),
    "time out": Description(Found.CLOSED, RunStatus.TIMED_OUT),
}


@pytest.mark.parametrize("how", ENDS)
def test_it_reads_every_end(server: TemporalServer, how: str) -> None:
    async def ask() -> Description:
        async with serving(server) as client:
            return await describe_run(await end(client, how))

    assert asyncio.run(ask()) == ENDS[how]


def test_it_leaves_a_run_that_is_running(server: TemporalServer) -> None:
    async def ask() -> Description:
        async with serving(server) as client:
            return await describe_run(await start(client, "wait"))

    assert asyncio.run(ask()) == Description(Found.RUNNING)


def test_it_names_the_run_that_a_continued_one_went_on_as(server: TemporalServer) -> None:
    async def ask() -> tuple[Description, Description, str]:
        async with serving(server) as client:
            first = await end(client, "go on")
            newest = await client.get_workflow_handle(first.id).describe()
            second = client.get_workflow_handle(first.id, run_id=newest.run_id)
            return await describe_run(first), await describe_run(second), newest.run_id

    first, second, next_run_id = asyncio.run(ask())
    assert first == Description(Found.CLOSED, RunStatus.SUCCEEDED, next_run_id=next_run_id)
    assert second == Description(Found.RUNNING)


def test_it_finds_no_run_of_another_id_and_concludes_nothing_of_one_that_is_no_id(server: TemporalServer) -> None:
    async def ask() -> list[Description]:
        async with serving(server) as client:
            known = await start(client, "wait")
            asked = [("never-started", str(uuid4())), (known.id, str(uuid4())), (known.id, "no run id")]
            return [await describe_run(client.get_workflow_handle(name, run_id=run)) for name, run in asked]

    assert asyncio.run(ask()) == [
        Description(Found.NOT_FOUND),
        Description(Found.NOT_FOUND),
        Description(Found.UNKNOWN),
    ]


def test_it_answers_for_each_run_in_turn_and_not_for_a_later_one_of_the_same_workflow(server: TemporalServer) -> None:
    async def ask() -> list[Description]:
        async with serving(server) as client:
            first = await end(client, "fail")
            second = await start(client, "wait", workflow_id=first.id)
            runs = [
                OpenRun(str(handle.run_id), handle.id, "EndWorkflow", provisional=False, episode=0)
                for handle in (second, first)
            ]
            return await describe_runs(client, runs)

    assert asyncio.run(ask()) == [Description(Found.RUNNING), ENDS["fail"]]


@pytest.mark.django_db(transaction=True)
def test_our_records_end_as_the_real_runs_did(
    server: TemporalServer, settings: Settings, assert_rebuild_matches: Callable[[], None]
) -> None:
    settings.TEMPORAL_ADDRESS, settings.TEMPORAL_NAMESPACE = server.address, "default"
    expected = {"succeed": "succeeded", "fail": "failed", "cancel": "canceled", "terminate": "terminated",
                "time out": "timed_out", "go on": "succeeded", "wait": "in_progress"}  # fmt: skip

    async def run_all() -> dict[str, Handle]:
        async with serving(server) as client:
            return {how: await (start if how == "wait" else end)(client, how) for how in expected}

    handles = asyncio.run(run_all())
    for handle in handles.values():
        record_started(WorkflowStart(handle.id, str(handle.run_id), "EndWorkflow", {}))
    record_started(WorkflowStart("lost", missing := str(uuid4()), "EndWorkflow", {}))

    assert reconcile_runs() == len(expected)
    assert reconcile_runs() == 0

    runs = {row.run_id: row for row in WorkflowRunProjection.objects.all()}
    assert {how: runs[str(handle.run_id)].status for how, handle in handles.items()} == expected
    assert runs[str(handles["fail"].run_id)].error_code == "source_unavailable"
    assert runs[str(handles["go on"].run_id)].next_run_id not in ("", handles["go on"].run_id)
    assert [row.run_id for row in runs.values() if row.provisional] == [missing]
    ends = JobEventRow.objects.exclude(event_type__in=("WorkflowStarted", "WorkflowCancellationRequested"))
    assert ends.count() == len(expected)
    assert_rebuild_matches()
