"""The exact keys under which a run's end and a request to cancel it are logged: each is written once, and asked for
before anything is claimed or published in the run's name."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from django.conf import settings
from django.db import connection
from django.db.models import Min, TextField

from operations.compiled import CompiledQuery
from operations.contracts import RecordedEnd, RunStatus
from operations.errors import RunStopped
from operations.models import JobEventRow

_ENDS = {
    "WorkflowCompleted": RunStatus.SUCCEEDED,
    "WorkflowFailed": RunStatus.FAILED,
    "WorkflowCanceled": RunStatus.CANCELED,
    "WorkflowTimedOut": RunStatus.TIMED_OUT,
    "WorkflowTerminated": RunStatus.TERMINATED,
}


_EVENT = CompiledQuery(
    lambda tenant_id, key: (
        JobEventRow.objects.filter(tenant_id=tenant_id, event_key=key).order_by().values_list("event_type", "payload")
    ),
    TextField(),
    TextField(),
)


class CancelEvidence(StrEnum):
    """How we know that a cancellation was asked for."""

    REQUEST_INTENT = "request_intent"
    TEMPORAL_HISTORY = "temporal_history"
    RECOVERED_TEMPORAL_HISTORY = "recovered_temporal_history"


class RunStop(StrEnum):
    """Why nothing more is done in a run's name."""

    ENDED = "ended"
    CANCEL_REQUESTED = "cancel_requested"


def make_end_key(run_id: str) -> str:
    return f"run:{run_id}:end"


def make_cancel_key(run_id: str, evidence: str) -> str:
    return f"run:{run_id}:cancel:{evidence}"


def has_run_ended(run_id: str) -> bool:
    """Whether the run's authoritative end is recorded; one index lookup."""
    return bool(_find_keys([make_end_key(run_id)]))


def find_recorded_end(run_id: str) -> RecordedEnd | None:
    ended = _EVENT.first(settings.TENANT_ID, make_end_key(run_id))
    if ended is None:
        return None
    event_type, payload = ended
    return RecordedEnd(_ENDS[event_type], payload.get("errorCode") or "")


def list_ended_runs(run_ids: Sequence[str]) -> set[str]:
    """Those whose authoritative end is recorded; one index lookup each, in one statement."""
    runs = {make_end_key(run_id): run_id for run_id in run_ids}
    return {runs[key] for key in _find_keys(list(runs))} if runs else set()


def find_run_stop(run_id: str, *, own_ends: Sequence[str] = ()) -> RunStop | None:
    """Whether the run has ended, or was asked to stop; one statement of a few index lookups.

    ``own_ends`` are keys under which its app logs an end of its own, a moment before the authoritative one.
    """
    asked = {make_cancel_key(run_id, evidence) for evidence in CancelEvidence}
    found = _find_keys([make_end_key(run_id), *own_ends, *asked])
    if not found:
        return None
    return RunStop.CANCEL_REQUESTED if found <= asked else RunStop.ENDED


def check_run(run_id: str, *, own_ends: Sequence[str] = ()) -> None:
    """Inside ``writer()``, before anything is stored in the run's name; raises ``RunStopped``."""
    match find_run_stop(run_id, own_ends=own_ends):
        case RunStop.ENDED:
            raise RunStopped
        case RunStop.CANCEL_REQUESTED:
            raise RunStopped(code=RunStatus.CANCELED)


def find_stop_time(run_id: str) -> datetime | None:
    """Since when it is logged that the run has ended, or was asked to stop; ``None`` where neither is yet."""
    facts = JobEventRow.objects.filter(tenant_id=settings.TENANT_ID, event_key__in=_list_stop_keys(run_id))
    since: datetime | None = facts.aggregate(since=Min("recorded_at"))["since"]
    return since


def _list_stop_keys(run_id: str) -> list[str]:
    return [make_end_key(run_id), *(make_cancel_key(run_id, evidence) for evidence in CancelEvidence)]


def list_cancel_facts(run_ids: Sequence[str], evidence: str) -> set[str]:
    """Those of these runs of which it is logged, with this evidence, that they were asked to stop."""
    keys = {make_cancel_key(run_id, evidence): run_id for run_id in run_ids}
    return {keys[key] for key in _find_keys(list(keys))} if keys else set()


def _find_keys(keys: list[str]) -> set[str]:
    marks = ", ".join(["%s"] * len(keys))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT event_key FROM job_events WHERE tenant_id = %s AND event_key IN ({marks})",
            [settings.TENANT_ID, *keys],
        )
        return {row[0] for row in cursor.fetchall()}
