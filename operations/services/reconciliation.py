"""Asking Temporal about every run that our records call open, and about every end that we only assumed.

One exact question a run: its workflow ID and its run ID. A later run that reuses the workflow ID is
never taken for it. Where Temporal cannot be asked, nothing is concluded.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from operations import queries
from operations.contracts import RunStatus, WorkflowOutcome
from operations.ended_runs import CancelEvidence
from operations.errors import WorkerUnavailable
from operations.services.cancel_facts import find_requesters, record_canceled_end, record_request
from operations.services.describing import Description, Found, describe_run, describe_runs
from operations.services.pending import record_pending
from operations.services.runs import CONTINUED_REASON, record_not_found, record_recovered
from operations.temporal import call_temporal

__all__ = [
    "Description",
    "Found",
    "Plan",
    "describe_run",
    "describe_runs",
    "plan_run",
    "reconcile_every_run",
    "reconcile_runs",
]

log = logging.getLogger(__name__)

MOST_RUNS = 500
MOST_ASSUMED = 100
RECONCILED = "reconciled"

_open = queries.Rotation(*queries.OPEN_STATES)
_assumed = queries.Rotation(queries.ASSUMED)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one description asks of our records; pure."""

    undo_end: bool = False
    end_as: RunStatus | None = None
    assume_end: bool = False


def plan_run(run: queries.OpenRun, found: Description) -> Plan:
    """A run that is running stays open; a closed one gets its real end; a missing one a provisional end, once."""
    match found.found:
        case Found.RUNNING:
            return Plan(undo_end=run.provisional)
        case Found.CLOSED:
            return Plan(undo_end=run.provisional, end_as=found.status)
        case Found.NOT_FOUND:
            return Plan(assume_end=not run.provisional)
    return Plan()


def reconcile_every_run() -> int:
    """Before work is accepted: every open run and every assumed end, in pages; returns the number of runs changed."""
    changed = 0
    for runs in queries.iter_unsettled_runs(page=MOST_RUNS):
        try:
            changed += _reconcile(runs)
        except WorkerUnavailable:
            break
    return changed


def reconcile_runs() -> int:
    """A heartbeat's share, other runs each time where there are many; returns the number of runs changed."""
    runs = [*_open.take(MOST_RUNS), *_assumed.take(MOST_ASSUMED)]
    try:
        return _reconcile(runs) if runs else 0
    except WorkerUnavailable:
        return 0


def _reconcile(runs: Sequence[queries.OpenRun]) -> int:
    asked_at = timezone.now()
    found = call_temporal(lambda client: describe_runs(client, runs))
    answers = list(zip(runs, found, strict=True))
    stopped = [(run.workflow_id, run.run_id) for run, description in answers if _is_canceled(description)]
    requesters = find_requesters(stopped)
    changed = sum(_apply_alone(run, description, requesters.get(run.run_id)) for run, description in answers)
    going_on = {run.run_id: description.pending for run, description in answers if description.found is Found.RUNNING}
    record_pending(going_on, observed_at=asked_at)
    return changed


def _is_canceled(found: Description) -> bool:
    return found.cancel_requested or found.status is RunStatus.CANCELED


def _apply_alone(run: queries.OpenRun, found: Description, requester: str | None) -> bool:
    """One run whose end cannot be written keeps no other from its own; it is asked about again."""
    try:
        return _apply(run, found, requester)
    except Exception as error:
        log.error("run %s could not be brought up to date: %s", run.run_id, type(error).__name__)
        return False


def _apply(run: queries.OpenRun, found: Description, requester: str | None) -> bool:
    """``requester`` is set where the log does not say yet that the run was asked to stop."""
    plan = plan_run(run, found)
    changed = False
    if plan.undo_end:
        changed = record_recovered(run.run_id, run.workflow_id, run.workflow_type, episode=run.episode)
    if plan.assume_end:
        changed = record_not_found(run.run_id, run.workflow_id, run.workflow_type, episode=run.episode + 1)
    if plan.end_as is not None:
        outcome = WorkflowOutcome(
            run.workflow_id,
            run.run_id,
            run.workflow_type,
            plan.end_as,
            error_code=found.error_code,
            reason_code=CONTINUED_REASON if found.next_run_id else RECONCILED,
            next_run_id=found.next_run_id,
        )
        evidence = CancelEvidence.RECOVERED_TEMPORAL_HISTORY
        return record_canceled_end(outcome, requester, evidence=evidence) or changed
    if requester is not None:
        evidence = CancelEvidence.TEMPORAL_HISTORY
        return record_request(run.workflow_id, run.run_id, requester, evidence=evidence) or changed
    return changed
