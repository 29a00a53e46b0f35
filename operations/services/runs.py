"""Control writes of workflow runs. Each is keyed by its exact run, so it may be repeated."""

from typing import Any
from uuid import UUID

from django.conf import settings

from operations import queries
from operations.contracts import COHORT_OWNERS, ExecutionRef, RunStatus, WorkflowOutcome, WorkflowStart
from operations.database import writer
from operations.ended_runs import CancelEvidence, make_cancel_key, make_end_key
from operations.eventlog import append
from operations.eventlog.registry import Event
from operations.events import (
    REQUESTER_LIMIT,
    WorkflowCanceled,
    WorkflowCancellationRequested,
    WorkflowCompleted,
    WorkflowFailed,
    WorkflowStarted,
    WorkflowTerminated,
    WorkflowTimedOut,
)
from operations.services.pending import forget_pending
from operations.services.steps import fail_open_steps
from operations.stage_engine.settling import cancel_owned_cohort, settle_owned_rows

NOT_FOUND_REASON = "reconciled_not_found"
CONTINUED_REASON = "continued_as_new"


def record_dispatched(start: WorkflowStart) -> bool:
    """What a starter writes once Temporal accepted. False where this run was already known."""
    return _record_start(start, phase="dispatched")


def record_started(start: WorkflowStart) -> bool:
    """What a run itself writes first. One that another continued as ends that one too: it could not write its own
    end, since only its successor proves that it went on."""
    with writer():
        if start.previous_run_id:
            record_outcome(
                WorkflowOutcome(
                    start.workflow_id,
                    start.previous_run_id,
                    start.workflow_type,
                    RunStatus.SUCCEEDED,
                    reason_code=CONTINUED_REASON,
                    next_run_id=start.run_id,
                )
            )
        return _record_start(start, phase="running")


def _record_start(start: WorkflowStart, *, phase: str) -> bool:
    job_id = start.summary.get("jobId")
    with writer():
        logged = append(
            WorkflowStarted(
                workflow_id=start.workflow_id,
                run_id=start.run_id,
                workflow_type=start.workflow_type,
                phase=phase,
                job_id=UUID(job_id) if job_id else None,
                summary={name: value for name, value in start.summary.items() if name != "jobId"},
                previous_run_id=start.previous_run_id,
            ),
            key=f"run:{start.run_id}:started:{phase}",
        )
    return logged is not None


def record_outcome(outcome: WorkflowOutcome) -> bool:
    """Append the run's authoritative end; the first one wins and later ones change nothing.

    In the same transaction whatever stage rows the run still owns are settled, and what its discovery still has open
    is ended; no claim is given to it and no step begun afterwards: nothing ever says that an ended run is working on
    it. A run whose end was only assumed is first marked as found again.
    """
    with writer():
        _undo_assumed_end(outcome)
        canceled = outcome.status == RunStatus.CANCELED
        if canceled and outcome.workflow_type in COHORT_OWNERS:
            cancel_owned_cohort(outcome.workflow_id, outcome.run_id)
        else:
            settle_owned_rows(outcome.run_id, canceled=canceled)
        if outcome.workflow_type in COHORT_OWNERS:
            _end_open_steps(outcome)
        forget_pending(outcome.run_id)
        logged = append(_to_terminal(outcome), key=make_end_key(outcome.run_id))
    return logged is not None


def _end_open_steps(outcome: WorkflowOutcome) -> None:
    """What a late thread began between the discovery's own end and this one, too."""
    ref = ExecutionRef(settings.TENANT_ID, outcome.workflow_id, outcome.run_id)
    code = "" if outcome.status == RunStatus.SUCCEEDED else outcome.error_code or outcome.status
    fail_open_steps(ref, error_code=code)


def _undo_assumed_end(outcome: WorkflowOutcome) -> None:
    known = queries.find_run_row(outcome.run_id)
    if known is not None and known.provisional:
        record_recovered(outcome.run_id, outcome.workflow_id, outcome.workflow_type, episode=known.provisional_ends)


def _to_terminal(outcome: WorkflowOutcome) -> Event:
    ids: dict[str, Any] = {
        "workflow_id": outcome.workflow_id,
        "run_id": outcome.run_id,
        "workflow_type": outcome.workflow_type,
        "reason_code": outcome.reason_code,
    }
    match RunStatus(outcome.status):
        case RunStatus.SUCCEEDED:
            return WorkflowCompleted(**ids, next_run_id=outcome.next_run_id, result=outcome.result or {})
        case RunStatus.FAILED:
            return WorkflowFailed(**ids, error_code=outcome.error_code, result=outcome.result or {})
        case RunStatus.CANCELED:
            return WorkflowCanceled(**ids)
        case RunStatus.TIMED_OUT:
            return WorkflowTimedOut(**ids)
        case RunStatus.TERMINATED:
            return WorkflowTerminated(**ids)
    raise ValueError(f"{outcome.status} is not an end that a workflow records")


def record_not_found(run_id: str, workflow_id: str, workflow_type: str, *, episode: int) -> bool:
    """A provisional end: Temporal does not know this exact run. What the run owns is left alone."""
    with writer():
        forget_pending(run_id)
        logged = append(
            WorkflowTerminated(
                workflow_id=workflow_id,
                run_id=run_id,
                workflow_type=workflow_type,
                reason_code=NOT_FOUND_REASON,
                provisional=True,
            ),
            key=f"run:{run_id}:provisional:{episode}",
        )
    return logged is not None


def record_recovered(run_id: str, workflow_id: str, workflow_type: str, *, episode: int) -> bool:
    """The marked start that undoes a provisional end: Temporal knows this exact run after all."""
    with writer():
        logged = append(
            WorkflowStarted(
                workflow_id=workflow_id,
                run_id=run_id,
                workflow_type=workflow_type,
                phase="running",
                recovered=True,
                summary={},
            ),
            key=f"run:{run_id}:recovered:{episode}",
        )
    return logged is not None


def record_cancel_intent(workflow_id: str, run_id: str, *, requester: str = "") -> None:
    """After Temporal accepted a cancellation; the first request of a run is the one that is kept."""
    with writer():
        append(
            WorkflowCancellationRequested(
                workflow_id=workflow_id,
                run_id=run_id,
                evidence=CancelEvidence.REQUEST_INTENT,
                requester=requester[:REQUESTER_LIMIT],
            ),
            key=make_cancel_key(run_id, CancelEvidence.REQUEST_INTENT),
        )
