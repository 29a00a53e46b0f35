"""Events that an earlier release stored: every reader sees them as the newest version, and the log keeps them as they are."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from operations.contracts import WorkflowStart
from operations.database import writer
from operations.eventlog import read_after
from operations.events import REQUESTER_LIMIT
from operations.folding.engine import catch_up, flag_app
from operations.folding.rebuild import rebuild_projections
from operations.models import JobEventRow, WorkflowRunProjection
from operations.services.runs import record_cancel_intent, record_started
from operations.streaming.frames import render_event
from tests.operations.admin_pages import sign_in

pytestmark = pytest.mark.django_db

#: As version 1 was written, before anybody knew who had asked.
STORED: dict[str, Any] = {"workflowId": "discover-local", "runId": "run-old", "evidence": "request_intent"}
READ = {**STORED, "requester": ""}


def store_first_version() -> JobEventRow:
    """A run of an earlier release that somebody asked to stop; not folded yet."""
    record_started(WorkflowStart("discover-local", "run-old", "DiscoverWorkflow", {}))
    flag_app("operations", state="new")
    is_postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO job_events (tenant_id, event_type, version, typed, workflow_id, run_id, payload, recorded_at) "
            "VALUES ('local', 'WorkflowCancellationRequested', 1, %s, %s, %s, %s, %s)",
            [
                True,
                STORED["workflowId"],
                STORED["runId"],
                json.dumps(STORED),
                "2026-09-01 10:00:00+00:00" if is_postgres else "2026-09-01 10:00:00",
            ],
        )
    return JobEventRow.objects.get(version=1, event_type="WorkflowCancellationRequested")


def test_a_stored_first_version_is_read_folded_and_streamed_as_the_newest(
    assert_rebuild_matches: Callable[[], None],
) -> None:
    row = store_first_version()
    catch_up("operations")

    assert row.read_payload() == READ
    streamed = read_after(row.id - 1)[0]
    assert streamed.id == row.id
    assert json.loads(render_event(streamed).decode().partition("data: ")[2]) == READ
    assert WorkflowRunProjection.objects.get(run_id="run-old").cancel_requested
    assert_rebuild_matches()
    assert JobEventRow.objects.get(id=row.id).payload == STORED


def test_a_live_fold_goes_on_behind_a_stored_first_version(assert_rebuild_matches: Callable[[], None]) -> None:
    store_first_version()
    catch_up("operations")
    record_started(WorkflowStart("discover-local", "run-new", "DiscoverWorkflow", {}))
    record_cancel_intent("discover-local", "run-new", requester="operator")

    asked = dict(WorkflowRunProjection.objects.values_list("run_id", "cancel_requested"))
    assert asked == {"run-old": True, "run-new": True}
    assert_rebuild_matches()


def test_a_rebuild_reads_a_stored_first_version() -> None:
    store_first_version()
    with writer():
        WorkflowRunProjection.objects.all().delete()

    rebuild_projections()

    run = WorkflowRunProjection.objects.get()
    assert (run.run_id, run.workflow_id, run.cancel_requested) == ("run-old", "discover-local", True)


@pytest.mark.parametrize("path", ["/activity/{event}/", "/activity/", "/runs/run-old/"])
def test_pages_say_a_stored_first_version_in_words(path: str) -> None:
    row = store_first_version()
    catch_up("operations")

    page = sign_in().get(path.format(event=row.id))

    assert page.status_code == 200
    assert "Cancellation was asked for" in page.content.decode()
    assert "Cancellation was asked for by" not in page.content.decode()


def test_the_newest_version_says_who_asked_and_bounds_the_name() -> None:
    record_started(WorkflowStart("discover-local", "run-new", "DiscoverWorkflow", {}))
    record_cancel_intent("discover-local", "run-new", requester="Zoë " + "x" * 1000)

    row = JobEventRow.objects.get(event_type="WorkflowCancellationRequested")
    assert row.version == 2
    assert len(row.payload["requester"]) == REQUESTER_LIMIT
    assert "Cancellation was asked for by Zoë xxx" in sign_in().get(f"/activity/{row.id}/").content.decode()
