"""Words that the job list is searched for: in title, company and place together, or in the place alone."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from django.db.models import Q, QuerySet

from operations.models import JobListProjection
from operations.search_index import SHORTEST_TERM, find_matching_jobs

FEW: Final = 500
NEWEST_WINDOW: Final = 5000
MOST_TERMS: Final = 8
WORK_MODES: Final = ("remote", "hybrid", "onsite")
SHORT_NOTE: Final = (
    f"Words under {SHORTEST_TERM} characters are searched for in the newest {NEWEST_WINDOW:,} jobs only."
)

Rows = QuerySet[JobListProjection]
Found = tuple[Rows, tuple[str, ...]]


def filter_by_text(rows: Rows, text: str, *, in_view: Rows) -> Found:
    """``in_view`` are the rows that short words are looked for among, newest first."""
    return _filter(rows, text.split()[:MOST_TERMS], column="body", holds=_says, in_view=in_view)


def filter_by_place(rows: Rows, place: str, *, in_view: Rows) -> Found:
    """Every word must stand in the place, or be the work mode: ``remote``, ``hybrid``, ``onsite``."""
    words = [_read_mode(word) for word in re.split(r"[\s,;/]+", place) if word]
    return _filter(rows, words[:MOST_TERMS], column="place", holds=_lies_in, in_view=in_view)


def _read_mode(word: str) -> str:
    plain = word.lower().replace("-", "")
    return plain if plain in WORK_MODES else word


def _filter(rows: Rows, terms: Sequence[str], *, column: str, holds: Callable[[str], Q], in_view: Rows) -> Found:
    """By id set where the index finds few. Many are met soon by walking the list in its order, and none is left out."""
    indexed = [term for term in terms if len(term) >= SHORTEST_TERM]
    others = [term for term in terms if len(term) < SHORTEST_TERM]
    if not indexed:
        return (_narrow(keep_newest(rows, in_view), others, holds), (SHORT_NOTE,)) if others else (rows, ())
    found = find_matching_jobs(indexed, column=column, limit=FEW)
    if not found.truncated:
        return _narrow(rows.filter(job_id__in=found.job_ids), others, holds), ()
    if all(term.isascii() for term in terms):
        return _narrow(rows, terms, holds), ()
    # SQLite's LIKE knows the two cases of ASCII letters only; its index knows all.
    found = find_matching_jobs(indexed, column=column)
    notes = (f"Only the newest {len(found.job_ids):,} matches are shown.",) if found.truncated else ()
    return _narrow(rows.filter(job_id__in=found.job_ids), others, holds), notes


def _narrow(rows: Rows, terms: Sequence[str], holds: Callable[[str], Q]) -> Rows:
    for term in terms:
        rows = rows.filter(holds(term))
    return rows


def _says(term: str) -> Q:
    return Q(title__icontains=term) | Q(company__icontains=term) | Q(location__icontains=term)


def _lies_in(term: str) -> Q:
    if len(term) < SHORTEST_TERM:  # "US" is no part of Austin
        return Q(location__iregex=rf"(^|\W){re.escape(term)}(\W|$)")
    modes = [mode for mode in WORK_MODES if term.lower() in mode]
    return Q(location__icontains=term) | Q(work_mode__in=modes) if modes else Q(location__icontains=term)


def keep_newest(rows: Rows, in_view: Rows) -> Rows:
    """Those among the newest 5,000 of ``in_view``."""
    newest = in_view.order_by("-discovered_at", "-job_id").values_list("discovered_at", flat=True)
    oldest = newest[NEWEST_WINDOW : NEWEST_WINDOW + 1].first()
    return rows if oldest is None else rows.filter(discovered_at__gt=oldest)
