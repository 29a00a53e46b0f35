"""What the core projections make of steps and runs, whatever order their events come in."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from operations.contracts import ExecutionRef, RunStatus, StepKind, WorkflowOutcome, WorkflowStart
from operations.database import writer
from operations.eventlog import append, read_after
from operations.eventlog.registry import LoggedEvent
from operations.events import WorkflowTerminated, WorkflowTimedOut
from operations.models import PipelineStepProjection, WorkflowRunProjection
from operations.projections import pipeline_steps, workflow_runs
from operations.services.runs import record_cancel_intent, record_dispatched, record_outcome, record_started
from operations.services.steps import complete_step, fail_step, queue_step, recorded_step, start_step
from operations.settings_store import change_settings

START = datetime(2026, 9, 1, 9, tzinfo=UTC)
REF = ExecutionRef("local", "discover-local", "run-a")
ATS = StepKind.SOURCE_FAMILY
JOB = UUID(int=7)


def fold_all(table: Any, events: list[tuple[str, dict[str, Any]]]) -> Any:
    """One row after these (type, payload) events, one minute apart."""
    row = table.compiled.new_row("key", "local")
    for number, (name, body) in enumerate(events):
        at = START + timedelta(minutes=number)
        logged = LoggedEvent(number + 1, name, "local", None, "w", "run-a", body, at)
        table.rules[name].apply(row, logged)
    return row


# --- pipeline steps ----------------------------------------------------------------------------


def step(name: str, attempt: int = 1, **more: Any) -> tuple[str, dict[str, Any]]:
    body = {"workflowId": "w", "runId": "run-a", "kind": "source_family", "itemKey": "ats", "attempt": attempt, **more}
    return f"PipelineStep{name}", body


def minute(number: int) -> datetime:
    return START + timedelta(minutes=number)


@pytest.mark.parametrize(
    ("events", "state", "attempt", "times"),
    [
        ([step("Queued"), step("Started"), step("Completed")], "succeeded", 1, (0, 1, 2)),
        ([step("Started"), step("Completed")], "succeeded", 1, (None, 0, 1)),
        ([step("Completed")], "succeeded", 1, (None, None, 0)),
        ([step("Started"), step("Queued")], "running", 1, (None, 0, None)),
        ([step("Failed", errorCode="X"), step("Completed")], "failed", 1, (None, None, 0)),
        ([step("Completed"), step("Failed", errorCode="X")], "succeeded", 1, (None, None, 0)),
        ([step("Completed"), step("Started")], "succeeded", 1, (None, None, 0)),
        ([step("Started", 2), step("Completed", 1)], "running", 2, (None, 0, None)),
        ([step("Completed", 2), step("Failed", 1, errorCode="X")], "succeeded", 2, (None, None, 0)),
        ([step("Failed", 1, errorCode="X"), step("Started", 2)], "running", 2, (None, 1, None)),
        ([step("Queued"), step("Started"), step("Queued", 3)], "queued", 3, (2, None, None)),
        ([step("Completed", 1), step("Failed", 2, errorCode="X")], "failed", 2, (None, None, 1)),
    ],
)
def test_it_keeps_the_highest_attempt_and_its_first_end(
    events: list[Any], state: str, attempt: int, times: tuple[int | None, ...]
) -> None:
    row = fold_all(pipeline_steps, events)
    expected = tuple(None if number is None else minute(number) for number in times)
    assert (row.state, row.attempt) == (state, attempt)
    assert (row.queued_at, row.started_at, row.finished_at) == expected


def test_it_forgets_the_code_and_counts_of_an_older_attempt() -> None:
    row = fold_all(pipeline_steps, [step("Failed", 1, errorCode="X", counts={"postings": 3}), step("Started", 2)])
    assert (row.error_code, row.counts_json) == ("", {})
    row = fold_all(pipeline_steps, [step("Completed", counts={"postings": 3}), step("Failed", errorCode="LATE")])
    assert (row.error_code, row.counts_json) == ("", {"postings": 3})


def test_it_records_each_step_once_however_often_its_activity_is_repeated(
    db: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    for _ in range(2):
        queue_step(REF, ATS, item_key="ats")
        start_step(REF, ATS, item_key="ats")
        complete_step(REF, ATS, item_key="ats", counts={"postings": 3})
    fail_step(REF, ATS, item_key="ats", error_code="LATE")
    start_step(REF, StepKind.PDF_RENDER, item_key=str(JOB))

    assert len(read_after(0)) == 4
    assert PipelineStepProjection.objects.count() == 2
    row = PipelineStepProjection.objects.get(kind=ATS)
    assert (row.state, row.counts_json, row.error_code, row.run_id) == ("succeeded", {"postings": 3}, "", "run-a")
    assert row.queued_at is not None
    assert_rebuild_matches()


def test_it_ends_a_recorded_step_with_a_code_and_never_with_the_exception(
    db: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    with pytest.raises(ValueError), recorded_step(REF, ATS, item_key="ats") as counts:
        counts["postings"] = 2
        raise ValueError("quotes Mara Lindqvist")
    row = PipelineStepProjection.objects.get()
    assert (row.state, row.error_code, row.counts_json) == ("failed", "unexpected_error", {"postings": 2})
    assert all("Lindqvist" not in str(event.payload) for event in read_after(0))
    assert_rebuild_matches()


def test_it_keeps_a_long_item_key_within_its_column(db: None, assert_rebuild_matches: Callable[[], None]) -> None:
    start_step(REF, ATS, item_key="x" * 500)
    start_step(REF, ATS, item_key="x" * 500)
    assert len(PipelineStepProjection.objects.get().item_key) == 120
    assert_rebuild_matches()


# --- workflow runs -----------------------------------------------------------------------------


def begin(phase: str, **more: Any) -> tuple[str, dict[str, Any]]:
    body: dict[str, Any] = {
        "workflowId": "w",
        "workflowType": "T",
        "phase": phase,
        "jobId": None,
        "summary": {},
        "previousRunId": "",
    }
    return "WorkflowStarted", {**body, **more}


def end(name: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return f"Workflow{name}", {"workflowId": "w", "workflowType": "T", **more}


CANCEL = ("WorkflowCancellationRequested", {"workflowId": "w", "runId": "run-a", "evidence": "request_intent"})


@pytest.mark.parametrize(
    ("events", "status", "started", "ended"),
    [
        ([begin("dispatched")], "starting", 0, None),
        ([begin("running")], "in_progress", 0, None),
        ([begin("dispatched"), begin("running")], "in_progress", 0, None),
        ([begin("running"), begin("dispatched")], "in_progress", 0, None),
        ([begin("running"), end("Completed")], "succeeded", 0, 1),
        ([begin("dispatched"), end("Completed")], "succeeded", 0, 1),
        ([end("Completed")], "succeeded", None, 0),
        ([end("Completed"), begin("dispatched")], "succeeded", 1, 0),
        ([end("Completed"), begin("running")], "succeeded", 1, 0),
        ([begin("running"), end("Failed", errorCode="boom"), end("Completed")], "failed", 0, 1),
        ([begin("running"), end("Canceled"), end("TimedOut")], "canceled", 0, 1),
        ([begin("running"), end("Terminated", provisional=True), end("Completed")], "succeeded", 0, 2),
        ([begin("running"), end("Completed"), end("Terminated", provisional=True)], "succeeded", 0, 1),
        ([end("TimedOut", provisional=True), end("Failed", errorCode="X"), end("Completed")], "failed", None, 1),
        ([CANCEL, begin("running")], "in_progress", 1, None),
        ([begin("running"), CANCEL], "in_progress", 0, None),
        ([begin("running"), CANCEL, end("Canceled")], "canceled", 0, 2),
    ],
)
def test_it_lets_the_first_authoritative_end_win(
    events: list[Any], status: str, started: int | None, ended: int | None
) -> None:
    row = fold_all(workflow_runs, events)
    assert row.status == status
    assert row.started_at == (None if started is None else minute(started))
    assert row.ended_at == (None if ended is None else minute(ended))
    assert row.cancel_requested == (CANCEL in events)
    assert row.workflow_id == "w"


def run(run_id: str, workflow_id: str = "discover-local") -> WorkflowStart:
    return WorkflowStart(workflow_id, run_id, "DiscoverWorkflow", {"jobId": str(JOB), "families": "ats"})


def outcome(run_id: str, status: RunStatus, error_code: str = "") -> WorkflowOutcome:
    return WorkflowOutcome("discover-local", run_id, "DiscoverWorkflow", status, error_code, result={"jobs": "3"})


def test_it_shows_a_run_that_failed_and_then_completed_as_failed(
    db: None, assert_rebuild_matches: Callable[[], None]
) -> None:
    assert record_started(run("run-a"))
    assert record_outcome(outcome("run-a", RunStatus.FAILED, "boom"))
    assert not record_outcome(outcome("run-a", RunStatus.SUCCEEDED))

    row = WorkflowRunProjection.objects.get()
    assert (row.status, row.error_code, row.job_id, row.result_json) == ("failed", "boom", JOB, {"jobs": "3"})
    assert row.summary_json == {"families": "ats"}
    assert_rebuild_matches()


def test_it_keeps_both_runs_of_a_reused_workflow_id(db: None, assert_rebuild_matches: Callable[[], None]) -> None:
    record_started(run("run-a"))
    record_outcome(outcome("run-a", RunStatus.TERMINATED))
    record_started(run("run-b"))
    record_outcome(outcome("run-b", RunStatus.FAILED, "configuration"))

    assert len(read_after(0)) == 4
    newest = WorkflowRunProjection.objects.filter(workflow_id="discover-local").order_by("-started_at").first()
    assert newest is not None
    assert (newest.run_id, newest.status, newest.error_code) == ("run-b", "failed", "configuration")
    assert WorkflowRunProjection.objects.get(run_id="run-a").status == "terminated"
    assert_rebuild_matches()


def test_it_records_the_start_and_the_end_of_a_run_once(db: None, assert_rebuild_matches: Callable[[], None]) -> None:
    assert record_started(run("run-a")) and record_dispatched(run("run-a"))
    assert not record_started(run("run-a")) and not record_dispatched(run("run-a"))
    assert record_outcome(outcome("run-a", RunStatus.SUCCEEDED))
    assert not record_outcome(outcome("run-a", RunStatus.SUCCEEDED))
    record_cancel_intent("discover-local", "run-a")
    record_cancel_intent("discover-local", "run-a")

    assert [event.type for event in read_after(0)] == [
        "WorkflowStarted",
        "WorkflowStarted",
        "WorkflowCompleted",
        "WorkflowCancellationRequested",
    ]
    row = WorkflowRunProjection.objects.get()
    assert (row.status, row.cancel_requested) == ("succeeded", True)
    assert_rebuild_matches()


@pytest.mark.parametrize("event", [WorkflowTerminated, WorkflowTimedOut])
def test_it_replaces_a_provisional_end_once(event: Any, db: None, assert_rebuild_matches: Callable[[], None]) -> None:
    record_started(run("run-a"))
    with writer():
        append(
            event(
                workflow_id="discover-local",
                run_id="run-a",
                workflow_type="DiscoverWorkflow",
                reason_code="reconciled_not_found",
                provisional=True,
            )
        )
    row = WorkflowRunProjection.objects.get()
    assert (row.provisional, row.reason_code) == (True, "reconciled_not_found")
    record_outcome(outcome("run-a", RunStatus.SUCCEEDED))
    row.refresh_from_db()
    assert (row.status, row.provisional, row.reason_code) == ("succeeded", False, "")
    assert_rebuild_matches()


def test_it_makes_no_run_of_events_without_one(db: None) -> None:
    change_settings({"min_fit_score": 8}, actor="operator")
    assert not WorkflowRunProjection.objects.exists()
