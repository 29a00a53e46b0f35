"""The list of workflow runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from operations.contracts import RunStatus
from operations.listing.paging import PAGE_SIZE, Page, QueryReader, read_page
from operations.models import WorkflowRunProjection
from operations.queries import OPEN_STATES

ORDER = ("first_seen_at", "run_id")
STATUSES = tuple(str(status) for status in RunStatus)
ENDED_BADLY = ("failed", "terminated", "timed_out")


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
        status=reader.choice("status", (*STATUSES, "open", "ended_badly")),
        workflow_type=reader.text("type", limit=80),
        job_id=reader.uuid("jobId"),
        since=reader.moment("since"),
        until=reader.moment("until"),
        text=reader.text("q"),
    )
    reader.finish()
    return found


def list_runs(wanted: RunFilter, *, cursor: str = "", limit: int = PAGE_SIZE) -> Page[WorkflowRunProjection]:
    """One page, newest first; ``text`` is the start of a workflow ID or a run ID."""
    rows = WorkflowRunProjection.objects.all()
    if wanted.status == "open":
        rows = rows.filter(status__in=OPEN_STATES)
    elif wanted.status == "ended_badly":
        rows = rows.filter(status__in=ENDED_BADLY)
    elif wanted.status:
        rows = rows.filter(status=wanted.status)
    if wanted.workflow_type:
        rows = rows.filter(workflow_type=wanted.workflow_type)
    if wanted.job_id:
        rows = rows.filter(job_id=wanted.job_id)
    if wanted.since:
        rows = rows.filter(first_seen_at__gte=wanted.since)
    if wanted.until:
        rows = rows.filter(first_seen_at__lt=wanted.until)
    if wanted.text:
        rows = rows.filter(Q(workflow_id__startswith=wanted.text) | Q(run_id__startswith=wanted.text))
    return read_page(rows, order=ORDER, cursor=cursor, limit=limit)
