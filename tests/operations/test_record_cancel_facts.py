"""Who canceled a run from outside is read from its history, logged before its end, and stops it at once."""

import asyncio
from collections.abc import Callable

import pytest
from pytest_django import Settings
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle

from operations import temporal
from operations.activities import record_workflow_outcome
from operations.contracts import RunStatus, WorkflowOutcome, WorkflowStart
from operations.ended_runs import RunStop, find_run_stop
from operations.models import JobEventRow
from operations.services.cancel_facts import find_identity
from operations.services.reconciliation import reconcile_runs
from operations.services.runs import record_started
from tests.operations.workflow_runs import INPUTS, Stubs, serving, start
from tests.temporal import TemporalServer

pytestmark = [pytest.mark.django_db, pytest.mark.temporal]

KIND = "JobPreparationWorkflow"
WHO = "mara@kitchen-table"


@pytest.fixture(autouse=True)
def _own_temporal(server: TemporalServer, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TEMPORAL_ADDRESS = server.address
    monkeypatch.setattr(temporal._Shared, "client", None)


def cancel_from_outside(server: TemporalServer, *, run: str, work: bool) -> tuple[str, str]:
    """Through the bare client; with ``work`` a worker sees to it that the run ends, but none of our code records it."""

    async def cancel() -> tuple[str, str]:
        client = await Client.connect(server.address, identity=WHO)
        stubs = Stubs(block="score_job")
        if not work:
            handle = await start(client, stubs, KIND, INPUTS[KIND], run=run)
            await handle.cancel()
            return handle.id, str(handle.first_execution_run_id)
        async with serving(client, stubs):
            handle = await start(client, stubs, KIND, INPUTS[KIND], run=run)
            await stubs.blocked.wait()
            await handle.cancel()
            await wait_for_end(handle)
        return handle.id, str(handle.first_execution_run_id)

    workflow_id, run_id = asyncio.run(asyncio.wait_for(cancel(), 60))
    record_started(WorkflowStart(workflow_id, run_id, KIND, {}))
    return workflow_id, run_id


async def wait_for_end(handle: WorkflowHandle[object, object]) -> None:
    with pytest.raises(WorkflowFailureError):
        await handle.result()


def list_facts(run_id: str) -> list[tuple[str, str, str]]:
    rows = JobEventRow.objects.filter(run_id=run_id).exclude(event_type="WorkflowStarted").order_by("id")
    return [(row.event_type, row.payload.get("evidence", ""), row.payload.get("requester", "")) for row in rows]


def test_a_run_is_stopped_from_outside_although_no_worker_is_there(
    server: TemporalServer, assert_rebuild_matches: Callable[[], None]
) -> None:
    _, run_id = cancel_from_outside(server, run="no-worker", work=False)

    assert reconcile_runs() == 1
    assert reconcile_runs() == 0, "it is logged once"

    assert list_facts(run_id) == [("WorkflowCancellationRequested", "temporal_history", WHO)]
    assert find_run_stop(run_id) is RunStop.CANCEL_REQUESTED
    assert_rebuild_matches()


def test_a_cancellation_that_nobody_recorded_is_recovered_before_its_end(
    server: TemporalServer, assert_rebuild_matches: Callable[[], None]
) -> None:
    _, run_id = cancel_from_outside(server, run="unrecorded", work=True)

    assert reconcile_runs() == 1

    assert list_facts(run_id) == [
        ("WorkflowCancellationRequested", "recovered_temporal_history", WHO),
        ("WorkflowCanceled", "", ""),
    ]
    assert_rebuild_matches()


def test_a_run_that_records_its_own_end_says_first_who_asked(
    server: TemporalServer, assert_rebuild_matches: Callable[[], None]
) -> None:
    workflow_id, run_id = cancel_from_outside(server, run="recorded", work=True)
    outcome = WorkflowOutcome(workflow_id, run_id, KIND, RunStatus.CANCELED, reason_code="cancel_requested")

    record_workflow_outcome(outcome)
    record_workflow_outcome(outcome)

    assert list_facts(run_id) == [
        ("WorkflowCancellationRequested", "temporal_history", WHO),
        ("WorkflowCanceled", "", ""),
    ]
    assert_rebuild_matches()


def test_the_end_is_recorded_although_nobody_can_be_asked(settings: Settings) -> None:
    settings.TEMPORAL_ADDRESS = "127.0.0.1:1"
    record_started(WorkflowStart("w", "r", KIND, {}))

    record_workflow_outcome(WorkflowOutcome("w", "r", KIND, RunStatus.CANCELED))

    assert list_facts("r") == [("WorkflowCanceled", "", "")]


def test_it_keeps_a_name_that_a_database_and_a_page_can_hold() -> None:
    from temporalio.api.history.v1 import HistoryEvent

    event = HistoryEvent()
    assert find_identity(event) is None
    event.workflow_execution_cancel_requested_event_attributes.identity = "a\x00\nb" + "c" * 300
    assert find_identity(event) == "ab" + "c" * 198
