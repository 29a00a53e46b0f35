"""The list of workflow runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import MAXYEAR, datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from operations import queries
from operations.contracts import RunStatus
from operations.listing.paging import PAGE_SIZE, Page, QueryReader, read_merged_page, read_page
from operations.listing.run_words import find_runs
from operations.models import WorkflowRunProjection
from operations.queries import OPEN_STATES

Runs = QuerySet[WorkflowRunProjection]

ORDER = ("first_seen_at", "run_id")
LONGEST = ("duration_ms", "run_id")
SORTS = ("newest", "oldest", "longest")
STATUSES = tuple(str(status) for status in RunStatus)
GROUPS = {"open": OPEN_STATES, "ended_badly": ("failed", "terminated", "timed_out")}
MOST_COMPARED = 5000
DAY = timedelta(days=1)
DATE_LENGTH = len("2026-11-29")

ENDED_ONLY = "Runs that have not ended are left out: nobody knows yet how long they take."
NEWEST_COMPARED = f"Only the newest {MOST_COMPARED:,} of these are compared."


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What a run list shows. ``status`` may also be ``open`` or ``ended_badly``."""

    status: str = ""
    retrying: bool = False
    workflow_type: str = ""
    job_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""
    sort: str = "newest"


def read_run_filter(params: Mapping[str, str]) -> RunFilter:
    """From a query string; raises ``BadQuery`` naming every field that is not understood."""
    reader = QueryReader(params)
    found = RunFilter(
        status=reader.choice("status", (*STATUSES, *GROUPS)),
        retrying=reader.choice("retrying", ("now",)) == "now",
        workflow_type=reader.text("type", limit=80),
        job_id=reader.uuid("jobId"),
        since=reader.moment("since"),
        until=_read_end(reader),
        text=reader.text("q"),
        sort=reader.choice("sort", SORTS, default="newest"),
    )
    reader.finish()
    return found


def _read_end(reader: QueryReader) -> datetime | None:
    """A day is asked for with all its hours."""
    given = reader.moment("until")
    is_day = len(reader.params.get("until", "").strip()) == DATE_LENGTH
    return given + DAY if given and is_day and given.year < MAXYEAR else given


def list_runs(wanted: RunFilter, *, cursor: str = "", limit: int = PAGE_SIZE) -> Page[WorkflowRunProjection]:
    """One page. Cost: an index range of the order, or of the bounded set that words, retries or a job give."""
    rows, notes = _filter_runs(wanted)
    statuses = GROUPS.get(wanted.status, (wanted.status,) if wanted.status else ())
    # Each status is an index range in the list's order; together they would be sorted, however many there are.
    parts = [rows.filter(status=status) for status in statuses] or [rows]
    if wanted.sort == "longest" and wanted.status not in ("open", *OPEN_STATES):
        parts, more_notes = _take_longest(parts, wanted)
        return read_merged_page(parts, order=LONGEST, cursor=cursor, limit=limit, notes=(*notes, *more_notes))
    ascending = wanted.sort != "newest"  # of open runs the oldest is the longest
    if len(parts) == 1:
        return read_page(parts[0], order=ORDER, cursor=cursor, limit=limit, notes=notes, ascending=ascending)
    return read_merged_page(parts, order=ORDER, cursor=cursor, limit=limit, notes=notes, ascending=ascending)


def _filter_runs(wanted: RunFilter) -> tuple[Runs, tuple[str, ...]]:
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
    if wanted.retrying:
        rows = rows.filter(run_id__in=queries.list_retrying_runs(), status__in=OPEN_STATES)
    if wanted.text:
        condition, notes = find_runs(wanted.text)
        rows = rows.filter(condition)
    return rows, notes


def _take_longest(parts: Sequence[Runs], wanted: RunFilter) -> tuple[list[Runs], tuple[str, ...]]:
    """By the index where nothing is asked for; else the newest that match, so many that sorting them stays cheap."""
    ended = [part.filter(duration_ms__gte=0) for part in parts]
    notes = () if wanted.status else (ENDED_ONLY,)
    if replace(wanted, sort="newest") == RunFilter():
        return ended, notes
    newest = [part.order_by("-first_seen_at", "-run_id").values("run_id") for part in ended]
    if any(part[MOST_COMPARED : MOST_COMPARED + 1].exists() for part in newest):
        notes = (*notes, NEWEST_COMPARED)
    return [WorkflowRunProjection.objects.filter(run_id__in=part[:MOST_COMPARED]) for part in newest], notes
