"""The job list."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Exists, F, OuterRef, Q

from operations.attention import list_needing_person
from operations.contracts import ENROLLED_STAGES, StageName, StageState
from operations.listing.job_words import NEWEST_WINDOW, Found, Rows, filter_by_place, filter_by_text, keep_newest
from operations.listing.paging import PAGE_SIZE, Page, QueryReader, continue_after, encode_cursor, read_page
from operations.models import JobListProjection, JobStageState

ORDERS: dict[str, tuple[str, ...]] = {
    "score": ("sort_score", "discovered_at", "job_id"),
    "newest": ("discovered_at", "job_id"),
}
VIEWS = ("visible", "hidden", "deleted")
STAGES = (*(str(stage) for stage in ENROLLED_STAGES), str(StageName.PDF))
STATES = tuple(str(state) for state in StageState)
FEW = 500
MOST_COUNTED = 100_000
STATE_NOTE = (
    f"Many jobs are in this state at some step, so only the newest {NEWEST_WINDOW:,} are looked at. "
    "Choose a step to look through all."
)
MOST_NEEDING = 1000


@dataclass(frozen=True, slots=True)
class JobFilter:
    """What a job list shows; every field "" or ``None`` = not filtered by."""

    stage: str = ""
    state: str = ""
    min_score: int | None = None
    max_score: int | None = None
    source: str = ""
    active: str = ""
    place: str = ""
    text: str = ""
    max_age_days: int | None = None
    documents: str = ""
    needs: str = ""
    view: str = "visible"
    sort: str = "score"


def read_job_filter(params: Mapping[str, str]) -> JobFilter:
    """From a query string; raises ``BadQuery`` naming every field that is not understood."""
    reader = QueryReader(params)
    found = JobFilter(
        stage=reader.choice("stage", STAGES),
        state=reader.choice("state", STATES),
        min_score=reader.integer("minScore", 1, 10),
        max_score=reader.integer("maxScore", 1, 10),
        source=reader.text("source", limit=160),
        active=reader.choice("active", ("active", "closed", "unknown")),
        place=reader.text("place"),
        text=reader.text("q"),
        max_age_days=reader.integer("maxAgeDays", 1, 3650),
        documents=reader.choice("documents", ("yes", "no")),
        needs=reader.choice("needs", ("me",)),
        view=reader.choice("view", VIEWS, default="visible"),
        sort=reader.choice("sort", tuple(ORDERS), default="score"),
    )
    if found.min_score and found.max_score and found.min_score > found.max_score:
        reader.errors["maxScore"] = f"it is below the lowest score asked for, which is {found.min_score}"
    reader.finish()
    return found


def list_jobs(wanted: JobFilter, *, now: datetime, cursor: str = "", limit: int = PAGE_SIZE) -> Page[JobListProjection]:
    """One page. Cost: an index range of the sort order, or of the bounded set that a text search found."""
    rows, notes = filter_jobs(wanted, now=now)
    return read_page(rows, order=ORDERS[wanted.sort], cursor=cursor, limit=limit, notes=notes)


def list_job_ids(wanted: JobFilter, *, now: datetime, after: str = "", limit: int = 1000) -> tuple[list[UUID], str]:
    """Ids of those that match, at most ``limit``, for a bulk action; and where the next begin, "" = there are none."""
    order = ORDERS[wanted.sort]
    rows, _ = filter_jobs(wanted, now=now)
    if after:
        rows = continue_after(rows, order, after)
    found = list(rows.order_by(*(f"-{name}" for name in order)).values_list(*order)[: limit + 1])
    cursor = encode_cursor(found[limit - 1]) if len(found) > limit else ""
    return [key[-1] for key in found[:limit]], cursor


def count_jobs(wanted: JobFilter, *, now: datetime, after: str = "") -> int:
    """How many match, from ``after`` on; counts no further than 100,000. Reads the whole list in the worst case, so it
    is for what a person does, not for what a page shows."""
    rows, _ = filter_jobs(wanted, now=now)
    if after:
        rows = continue_after(rows, ORDERS[wanted.sort], after)
    return rows.order_by().values("job_id")[:MOST_COUNTED].count()


def filter_jobs(wanted: JobFilter, *, now: datetime) -> tuple[Rows, tuple[str, ...]]:
    """The rows that match, unordered, and what the search had to leave out."""
    notes: tuple[str, ...] = ()
    rows = JobListProjection.objects.filter(_view(wanted.view))
    score = "sort_score"
    if wanted.sort == "newest" and connection.vendor == "sqlite":
        # An expression that no index fits: SQLite would read the range of scores and sort all of it.
        rows, score = rows.alias(score_then=F("sort_score") + 0), "score_then"
    plain: dict[str, Any] = {
        f"{score}__gte": wanted.min_score,
        f"{score}__lte": wanted.max_score,
        "source": wanted.source or None,
        "active_state": wanted.active or None,
        "has_documents": {"yes": True, "no": False}.get(wanted.documents),
        "discovered_at__gte": now - timedelta(days=wanted.max_age_days) if wanted.max_age_days else None,
    }
    rows = rows.filter(**{name: value for name, value in plain.items() if value is not None})
    if wanted.max_score is not None and wanted.min_score is None:
        rows = rows.filter(**{f"{score}__gte": 1})
    if wanted.needs:
        rows = rows.filter(job_id__in=list_needing_person(limit=MOST_NEEDING))
    in_view = JobListProjection.objects.filter(_view(wanted.view))
    if wanted.stage:
        rows = _in_stage(rows, wanted.stage, wanted.state)
    elif wanted.state:
        rows, notes = _in_state(rows, wanted.state, in_view=in_view)
    if wanted.place:
        rows, more = filter_by_place(rows, wanted.place, in_view=in_view)
        notes += more
    if wanted.text:
        rows, more = filter_by_text(rows, wanted.text, in_view=in_view)
        notes += more
    return rows, tuple(dict.fromkeys(notes))


def _view(view: str) -> Q:
    if view == "deleted":
        return Q(deleted=True)
    return Q(deleted=False, hidden=view == "hidden")


def _in_stage(rows: Rows, stage: str, state: str) -> Rows:
    """By id set where few rows are in that state; where many are, by walking the list in its order."""
    staged = JobStageState.objects.filter(tenant_id=settings.TENANT_ID, stage=stage)
    if state:
        staged = staged.filter(state=state)
    few = list(staged.values_list("job_id", flat=True)[: FEW + 1])
    if len(few) <= FEW:
        return rows.filter(job_id__in=few)
    if not state or connection.vendor != "sqlite":
        return rows.filter(Exists(staged.filter(job_id=OuterRef("job_id"))))
    # Looked up in a set made once, the jobs in a state that the list shows last cost a third of an EXISTS for each;
    # the plus keeps SQLite from reading that set in its own order and sorting it.
    statement, params = staged.values("job_id").query.sql_with_params()
    return rows.extra(where=[f"+job_list_projections.job_id IN ({statement})"], params=params)


def _in_state(rows: Rows, state: str, *, in_view: Rows) -> Found:
    """In that state in any stage. Where many are, the set of all of them is too large to make for one page."""
    staged = JobStageState.objects.filter(tenant_id=settings.TENANT_ID, stage__in=STAGES, state=state)
    few = list(staged.values_list("job_id", flat=True)[: FEW + 1])
    if len(few) <= FEW:
        return rows.filter(job_id__in=set(few)), ()
    newest = keep_newest(rows, in_view)
    return newest.filter(Exists(staged.filter(job_id=OuterRef("job_id")))), (STATE_NOTE,)
