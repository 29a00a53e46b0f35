"""The filters of the job list as a person meets them: pills, fields, and what is set now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from operations import attention
from operations.listing.job_sources import list_job_sources, name_source
from operations.listing.job_words import WORK_MODES
from operations.listing.jobs import MOST_NEEDING, STAGES, STATES
from operations.models import JobListProjection
from operations.stage_engine.counters import read_counters
from operations.templatetags.ui import FilterPill
from operations.views.counting import count_up_to
from operations.wording import STAGE_NAMES
from operations.wording.states import STATE_NAMES

#: In the order in which a URL holds them.
FILTER_NAMES: Final = (
    *("q", "place", "stage", "state", "minScore", "maxScore", "source", "active", "maxAgeDays"),
    *("documents", "needs", "view", "sort"),
)
#: What the form asks for; the others are pills.
FIELDS: Final = ("q", "place", "maxAgeDays", "stage", "state", "minScore", "maxScore", "source")
PILLED: Final = ("minScore", "maxScore", "stage", "state", "documents", "needs", "active", "view")
FURTHER: Final = ("stage", "state", "minScore", "maxScore", "source")
AGES: Final = (("1", "Found today"), ("3", "In three days"), ("7", "In a week"), ("30", "In a month"))
SCORES: Final = tuple(str(score) for score in range(1, 11))
LABELS: Final = {
    "q": "Words",
    "place": "Place",
    "maxAgeDays": "Found within",
    "stage": "Step",
    "state": "State of the step",
    "minScore": "Fit from",
    "maxScore": "Fit up to",
    "source": "Source",
    "active": "Posting",
    "documents": "Documents",
    "needs": "Needs you",
    "view": "Which list",
    "sort": "Order",
    "cursor": "Place in the list",
}


@dataclass(frozen=True, slots=True)
class SetFilter:
    """A filter that is set now, in words, and the list without it."""

    label: str
    url: str


def keep_filters(given: QueryDict) -> str:
    """The known filters of a query string, in a fixed order, so that a URL can be compared and shared."""
    return urlencode([(name, value) for name in FILTER_NAMES if (value := str(given.get(name, "")).strip())])


def split_query(query: str) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in QueryDict(query).items()]


def join_query(query: str, **more: str) -> str:
    """The query with some fields set, or removed where they are ""."""
    kept = [(name, value) for name, value in split_query(query) if name not in more]
    return urlencode([*kept, *((name, value) for name, value in more.items() if value)])


def make_url(query: str) -> str:
    base = reverse("operations:jobs")
    return f"{base}?{query}" if query else base


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of the visible jobs, none read further than a thousand index rows."""

    every: str
    good: str
    below: str


def count_totals(threshold: int) -> Totals:
    visible = JobListProjection.objects.filter(deleted=False, hidden=False)
    return Totals(
        count_up_to(visible),
        count_up_to(visible.filter(sort_score__gte=threshold)),
        count_up_to(visible.filter(sort_score__gte=1, sort_score__lt=threshold)),
    )


def build_pills(query: str, threshold: int, totals: Totals) -> list[FilterPill]:
    """The usual questions, each one click; a pill keeps words, place, source, age and order. Counted while nothing of
    that is set, since the counts are of the whole list."""
    current = dict(split_query(query))
    kept = {name: value for name, value in current.items() if name not in PILLED}
    asked = {name: value for name, value in current.items() if name in PILLED}
    is_whole = not kept or set(kept) == {"sort"}
    needing = len(attention.list_needing_person(limit=MOST_NEEDING)) if is_whole else 0
    choices: list[tuple[str, dict[str, str], str | int | None, str]] = [
        ("All", {}, totals.every, ""),
        ("Needs you", {"needs": "me"}, needing, "person" if needing else ""),
        (f"{threshold} or above", {"minScore": str(threshold)}, totals.good, ""),
        ("Documents ready", {"documents": "yes"}, None, ""),
        ("At work", {"state": "running"}, None, ""),
        ("Closed", {"active": "closed"}, None, ""),
        ("Hidden", {"view": "hidden"}, None, ""),
        ("Deleted", {"view": "deleted"}, None, ""),
    ]
    if threshold > 1:
        choices.insert(3, (f"Below {threshold}", {"maxScore": str(threshold - 1)}, totals.below, ""))
    return [
        FilterPill(label, make_url(urlencode({**kept, **fields})), asked == fields, count if is_whole else None, tone)
        for label, fields, count, tone in choices
    ]


def list_set_filters(query: str, pills: list[FilterPill]) -> list[SetFilter]:
    """Every filter that is set, but for what the current pill says already."""
    shown = dict(split_query(query))
    shown.pop("sort", None)
    if any(pill.is_current for pill in pills):
        shown = {name: value for name, value in shown.items() if name not in PILLED}
    return [
        SetFilter(word_filter(name, value), make_url(join_query(query, **{name: ""}))) for name, value in shown.items()
    ]


def word_filter(name: str, value: str) -> str:
    """One filter in words; a value that is not understood stands as it was given."""
    if name in ("active", "documents", "needs", "view"):
        return _SAID.get((name, value), f"{LABELS[name]}: {value}")
    if name == "q":
        return f"“{value}”"
    if name == "minScore":
        return f"Fit {value} or above"
    if name == "maxScore":
        return f"Fit {value} or below"
    if name == "maxAgeDays":
        return dict(AGES).get(value, f"Found in the last {value} days")
    if name == "stage":
        return f"Step: {STAGE_NAMES[value].noun if value in STAGE_NAMES else value}"
    if name == "state":
        return f"State: {STATE_NAMES.get(value, value)}"
    return f"{LABELS[name]}: {name_source(value) if name == 'source' else value}"


_SAID: Final = {
    ("active", "active"): "Posting open",
    ("active", "closed"): "Posting closed",
    ("active", "unknown"): "Posting: open or closed is not known",
    ("documents", "yes"): "Documents ready",
    ("documents", "no"): "No documents yet",
    ("needs", "me"): "Needs you",
    ("view", "hidden"): "Hidden",
    ("view", "deleted"): "Deleted",
}


def build_fields(query: str, errors: Mapping[str, str]) -> dict[str, Any]:
    """What the form of filters shows: the choices, and what was given even where it was refused."""
    given = dict(split_query(query))
    sources = list_job_sources()
    if (chosen := given.get("source", "")) and chosen not in sources:
        sources = [*sources, chosen]
    counts = read_counters()
    stage = given.get("stage", "")
    return {
        "given": given,
        "ages": _with_given(AGES, given.get("maxAgeDays", "")),
        "stages": [(name, STAGE_NAMES[name].noun) for name in STAGES],
        "states": [(name, _count_state(name, stage, counts)) for name in STATE_NAMES if name in STATES],
        "scores": SCORES,
        "sources": [(source, name_source(source)) for source in sources],
        "work_modes": WORK_MODES,
        "hidden": [(name, value) for name, value in given.items() if name not in FIELDS],
        "is_further": any(given.get(name) for name in FURTHER) or any(name in errors for name in FURTHER),
    }


def _with_given(choices: tuple[tuple[str, str], ...], value: str) -> list[tuple[str, str]]:
    """A value that the form does not offer, from a typed URL, is shown and not dropped."""
    known = not value or value in dict(choices)
    return list(choices) if known else [*choices, (value, word_filter("maxAgeDays", value))]


def _count_state(state: str, stage: str, counts: Mapping[str, Mapping[str, int]]) -> str:
    """With how many rows of the chosen step are in it, hidden and deleted jobs included."""
    word = STATE_NAMES[state]
    return f"{word} ({counts.get(stage, {}).get(state, 0):,})" if stage in STAGES else word


def name_fields(errors: Mapping[str, str]) -> list[tuple[str, str]]:
    """The fields that were refused by the words on the page."""
    return [(LABELS.get(name, name), reason) for name, reason in errors.items()]
