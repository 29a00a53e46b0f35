"""Reads of the event log."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from operations.models import JobEventRow

CONTENT_EVENTS = ("JobDiscovered", "JobUpdated", "JobEnriched", "PostingContentSnapshotCaptured")


def find_content_event_id(job_id: UUID) -> int:
    """The last event that changed what the job says: part of its preparation's idempotency key."""
    return (
        JobEventRow.objects.filter(job_id=job_id, event_type__in=CONTENT_EVENTS)
        .order_by("-id")
        .values_list("id", flat=True)
        .first()
        or 0
    )


def find_first_event_time(event_type: str) -> datetime | None:
    """When the first event of a type was recorded; one index lookup."""
    return (
        JobEventRow.objects.filter(event_type=event_type).order_by("id").values_list("recorded_at", flat=True).first()
    )


def find_event(event_id: int) -> JobEventRow | None:
    return JobEventRow.objects.filter(id=event_id).first()


def list_logged_runs(event_types: Sequence[str], *, first_id: int, below: int) -> list[str]:
    """Ids of the runs that these types of events tell of, in one slice of the log."""
    rows = JobEventRow.objects.filter(id__gte=first_id, id__lt=below, event_type__in=event_types).exclude(run_id="")
    return sorted(set(rows.values_list("run_id", flat=True)))
