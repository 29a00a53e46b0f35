"""The job list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from operations.attention import list_needing_person
from operations.contracts import ENROLLED_STAGES, StageName, StageState
from operations.listing.paging import PAGE_SIZE, Page, QueryReader, read_page
from operations.models import JobListProjection, JobStageState
from operations.search_index import SHORTEST_TERM, find_matching_jobs

ORDERS: dict[str, tuple[str, ...]] = {
    "score": ("sort_score", "discovered_at", "job_id"),
    "newest": ("discovered_at", "job_id"),
}
VIEWS = ("visible", "hidden", "deleted")
STAGES = (*(str(stage) for stage in ENROLLED_STAGES), str(StageName.PDF))
STATES = tuple(str(state) for state in StageState)
FEW = 500
MOST_NEEDING = 1000
SHORT_TERM_WINDOW = 5000


@dataclass(frozen=True, slots=True)
class JobFilter:
    """What a job list shows; every field "" or ``None`` = not filtered by."""

    stage: str = ""
    state: str = ""
    min_score: int | None = None
    max_score: int | None = None
    source: str = ""
    active: str = ""
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
        text=reader.text("q"),
        max_age_days=reader.integer("maxAgeDays", 1, 3650),
        documents=reader.choice("documents", ("yes", "no")),
        needs=reader.choice("needs", ("me",)),
        view=reader.choice("view", VIEWS, default="visible"),
        sort=reader.choice("sort", tuple(ORDERS), default="score"),
    )
    if found.state and not found.stage:
        reader.errors["state"] = "say of which stage"
    reader.finish()
    return found


def list_jobs(wanted: JobFilter, *, now: datetime, cursor: str = "", limit: int = PAGE_SIZE) -> Page[JobListProjection]:
    """One page. Cost: an index range of the sort order, or of the bounded set that a text search found."""
    rows, notes = filter_jobs(wanted, now=now)
    return read_page(rows, order=ORDERS[wanted.sort], cursor=cursor, limit=limit, notes=notes)


def list_job_ids(wanted: JobFilter, *, now: datetime, limit: int = 1000) -> list[UUID]:
    """Ids of all that match, for a bulk action; at most ``limit``."""
    rows, _ = filter_jobs(wanted, now=now)
    order = [f"-{name}" for name in ORDERS[wanted.sort]]
    return list(rows.order_by(*order).values_list("job_id", flat=True)[:limit])


def filter_jobs(wanted: JobFilter, *, now: datetime) -> tuple[QuerySet[JobListProjection], tuple[str, ...]]:
    """The rows that match, unordered, and what the search had to leave out."""
    notes: tuple[str, ...] = ()
    rows = JobListProjection.objects.filter(_view(wanted.view))
    score = "sort_score"
    if wanted.sort == "newest":
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
    if wanted.stage:
        rows = _in_stage(rows, wanted.stage, wanted.state)
    if wanted.text:
        rows, notes = _with_text(rows, wanted.text, view=wanted.view)
    return rows, notes


def _view(view: str) -> Q:
    if view == "deleted":
        return Q(deleted=True)
    return Q(deleted=False, hidden=view == "hidden")


def _in_stage(rows: QuerySet[JobListProjection], stage: str, state: str) -> QuerySet[JobListProjection]:
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


def _with_text(
    rows: QuerySet[JobListProjection], text: str, *, view: str
) -> tuple[QuerySet[JobListProjection], tuple[str, ...]]:
    """By id set where the index finds few. Many are met soon by walking the list in its order, and none is left out."""
    terms = text.split()[:8]
    indexed = [term for term in terms if len(term) >= SHORTEST_TERM]
    if not indexed:
        note = f"Words under {SHORTEST_TERM} characters are searched for in the newest {SHORT_TERM_WINDOW:,} jobs only."
        return _containing(_among_newest(rows, view), terms), (note,)
    found = find_matching_jobs(indexed, limit=FEW)
    if not found.truncated:
        return _containing(rows.filter(job_id__in=found.job_ids), [term for term in terms if term not in indexed]), ()
    if all(term.isascii() for term in terms):
        return _containing(rows, terms), ()
    # SQLite's LIKE knows the two cases of ASCII letters only; its index knows all.
    found = find_matching_jobs(indexed)
    notes = (f"Only the newest {len(found.job_ids):,} matches are shown.",) if found.truncated else ()
    return _containing(rows.filter(job_id__in=found.job_ids), [term for term in terms if term not in indexed]), notes


def _containing(rows: QuerySet[JobListProjection], terms: Sequence[str]) -> QuerySet[JobListProjection]:
    for term in terms:
        rows = rows.filter(Q(title__icontains=term) | Q(company__icontains=term) | Q(location__icontains=term))
    return rows


def _among_newest(rows: QuerySet[JobListProjection], view: str) -> QuerySet[JobListProjection]:
    newest = JobListProjection.objects.filter(_view(view)).order_by("-discovered_at", "-job_id")
    oldest = newest.values_list("discovered_at", flat=True)[SHORT_TERM_WINDOW : SHORT_TERM_WINDOW + 1].first()
    return rows if oldest is None else rows.filter(discovered_at__gt=oldest)
