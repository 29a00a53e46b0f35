"""The list of workflow runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from operations.contracts import RunStatus
from operations.listing.paging import PAGE_SIZE, Page, QueryReader, read_merged_page, read_page
from operations.models import WorkflowRunProjection
from operations.queries import OPEN_STATES

ORDER = ("first_seen_at", "run_id")
STATUSES = tuple(str(status) for status in RunStatus)
GROUPS = {"open": OPEN_STATES, "ended_badly": ("failed", "terminated", "timed_out")}
TEXT_WINDOW = 5000


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What a run list shows. ``status`` may also be ``open`` or ``ended_badly``."""

    status: str = ""
    workflow_type: str = ""
    job_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""


def read_run_filter(params: Mapping[str, str]) -> RunFilter:
    """From a query string; raises ``BadQuery`` naming every field that is not understood."""
    reader = QueryReader(params)
    found = RunFilter(
        status=reader.choice("status", (*STATUSES, *GROUPS)),
        workflow_type=reader.text("type", limit=80),
        job_id=reader.uuid("jobId"),
        since=reader.moment("since"),
        until=reader.moment("until"),
        text=reader.text("q"),
    )
    reader.finish()
    return found


def list_runs(wanted: RunFilter, *, cursor: str = "", limit: int = PAGE_SIZE) -> Page[WorkflowRunProjection]:
    """One page, newest first; ``text`` is a workflow ID or a run ID, or how one of the newest 5,000 begins."""
    notes: tuple[str, ...] = ()
    rows = WorkflowRunProjection.objects.all()
    if wanted.workflow_type:
        rows = rows.filter(workflow_type=wanted.workflow_type)
    if wanted.job_id:
        rows = rows.filter(job_id=wanted.job_id)
    if wanted.since:
        rows = rows.filter(first_seen_at__gte=wanted.since)
    if wanted.until:
        rows = rows.filter(first_seen_at__lt=wanted.until)
    if wanted.text:
        rows, notes = _with_text(rows, wanted.text)
    statuses = GROUPS.get(wanted.status, (wanted.status,) if wanted.status else ())
    if len(statuses) < 2:
        rows = rows.filter(status__in=statuses) if statuses else rows
        return read_page(rows, order=ORDER, cursor=cursor, limit=limit, notes=notes)
    # Each status is an index range in the list's order; together they would be sorted, however many there are.
    parts = [rows.filter(status=status) for status in statuses]
    return read_merged_page(parts, order=ORDER, cursor=cursor, limit=limit, notes=notes)


def _with_text(
    rows: QuerySet[WorkflowRunProjection], text: str
) -> tuple[QuerySet[WorkflowRunProjection], tuple[str, ...]]:
    exact = WorkflowRunProjection.objects.filter(Q(workflow_id=text) | Q(run_id=text))
    if exact.exists():
        return rows.filter(Q(workflow_id=text) | Q(run_id=text)), ()
    newest = WorkflowRunProjection.objects.order_by("-first_seen_at", "-run_id")
    oldest = newest.values_list("first_seen_at", flat=True)[TEXT_WINDOW : TEXT_WINDOW + 1].first()
    rows = rows.filter(Q(workflow_id__startswith=text) | Q(run_id__startswith=text))
    if oldest is None:
        return rows, ()
    note = f"The start of an ID is searched for among the newest {TEXT_WINDOW:,} runs only."
    return rows.filter(first_seen_at__gt=oldest), (note,)
