"""The audit list over the event log; markers included."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from operations.contracts import StepKind
from operations.eventlog.log import read_head
from operations.listing.paging import PAGE_SIZE, Page, QueryReader, read_page
from operations.models import JobEventRow

ORDER = ("id",)
TEXT_WINDOW = 5000
LIFECYCLE = "lifecycle"


@dataclass(frozen=True, slots=True)
class EventFilter:
    event_type: str = ""
    job_id: UUID | None = None
    run_id: str = ""
    workflow_id: str = ""
    text: str = ""
    family: str = ""  # LIFECYCLE = only what a run does as a whole


def read_event_filter(params: Mapping[str, str]) -> EventFilter:
    """From a query string; raises ``BadQuery`` naming every field that is not understood."""
    reader = QueryReader(params)
    found = EventFilter(
        event_type=reader.text("type", limit=60),
        job_id=reader.uuid("jobId"),
        run_id=reader.text("runId", limit=80),
        workflow_id=reader.text("workflowId"),
        text=reader.text("q"),
    )
    reader.finish()
    return found


def list_events(wanted: EventFilter, *, cursor: str = "", limit: int = PAGE_SIZE) -> Page[JobEventRow]:
    """One page, newest first. A text is searched for in the newest 5,000 events only; the page says so."""
    rows, notes = filter_events(wanted)
    return read_page(rows, order=ORDER, cursor=cursor, limit=limit, notes=notes)


def filter_events(wanted: EventFilter) -> tuple[QuerySet[JobEventRow], tuple[str, ...]]:
    """The rows that match, unordered, and what the search had to leave out."""
    notes: tuple[str, ...] = ()
    rows = JobEventRow.objects.all()
    if wanted.event_type and (wanted.job_id or wanted.run_id or wanted.workflow_id):
        # An expression that no index fits: all events of a type are far more than those of one job or run.
        rows = rows.alias(type_text=Concat("event_type", Value(""))).filter(type_text=wanted.event_type)
    elif wanted.event_type:
        rows = rows.filter(event_type=wanted.event_type)
    if wanted.job_id:
        rows = rows.filter(job_id=wanted.job_id)
    if wanted.run_id:
        rows = rows.filter(run_id=wanted.run_id).exclude(run_id="")  # as the partial index says it
    if wanted.workflow_id:
        rows = rows.filter(workflow_id=wanted.workflow_id).exclude(workflow_id="")
    if wanted.family == LIFECYCLE:
        # The type too: an event without a kind is neither equal to one nor, to SQL, unequal.
        prints = Q(event_type__startswith="PipelineStep", payload__kind=StepKind.PDF_RENDER)
        rows = rows.filter(job_id__isnull=True).exclude(prints)
    if wanted.text:
        rows = rows.filter(id__gt=read_head() - TEXT_WINDOW)
        rows = rows.annotate(payload_text=Cast("payload", TextField())).filter(payload_text__icontains=wanted.text)
        notes = (f"A text is searched for in the newest {TEXT_WINDOW:,} events only.",)
    return rows, notes
