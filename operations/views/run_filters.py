"""The filters of the run list as a person meets them: pills, what is set now, and the orders."""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from operations import queries
from operations.listing.runs import GROUPS
from operations.models import WorkflowRunProjection
from operations.templatetags.ui import FilterPill
from operations.views.counting import count_up_to
from operations.wording import describe_run, name_workflow

#: In the order in which a URL holds them.
FILTER_NAMES: Final = ("q", "status", "retrying", "type", "jobId", "since", "until", "sort")
#: What pills ask for; the others are fields of the form.
PILLED: Final = ("status", "retrying")
FIELDS: Final = ("q", "type", "since", "until", "sort")
TYPES: Final = ("DiscoverWorkflow", "JobPreparationWorkflow", "JobPipelineWorkflow")
SORT_NAMES: Final = {"": "Newest first", "oldest": "Oldest first", "longest": "Longest first"}
LABELS: Final = {
    "q": "Words",
    "status": "State",
    "retrying": "Retrying now",
    "type": "Kind",
    "jobId": "Job",
    "since": "From",
    "until": "Until",
    "sort": "Order",
    "cursor": "Place in the list",
}
_GROUP_WORDS: Final = {"open": "Running", "ended_badly": "Failed only"}


@dataclass(frozen=True, slots=True)
class SetFilter:
    """A filter that is set now, in words, and the list without it."""

    label: str
    url: str


def keep_filters(given: QueryDict) -> dict[str, str]:
    """The known filters of a query string, in a fixed order, so that a URL can be compared and shared."""
    return {name: value for name in FILTER_NAMES if (value := str(given.get(name, "")).strip())}


def make_url(given: dict[str, str], **more: str) -> str:
    """The list under these filters; one set to "" is left out."""
    asked = {name: value for name, value in {**given, **more}.items() if value}
    base = reverse("operations:runs")
    return f"{base}?{urlencode(asked)}" if asked else base


def build_pills(given: dict[str, str]) -> list[FilterPill]:
    """The usual questions, each one click. Counted while nothing else is set: the counts are of the whole list."""
    kept = {name: value for name, value in given.items() if name not in PILLED}
    asked = {name: value for name, value in given.items() if name in PILLED}
    is_whole = not kept or set(kept) == {"sort"}
    choices: tuple[tuple[str, dict[str, str]], ...] = (
        ("All", {}),
        ("Running", {"status": "open"}),
        ("Retrying now", {"retrying": "now"}),
        ("Failed only", {"status": "ended_badly"}),
        ("Done", {"status": "succeeded"}),
        ("Canceled", {"status": "canceled"}),
    )
    return [
        FilterPill(label, make_url({**kept, **fields}), asked == fields, count_runs(fields) if is_whole else None)
        for label, fields in choices
    ]


def count_runs(fields: dict[str, str]) -> str | int:
    """None reads more than a thousand index rows of a status."""
    if "retrying" in fields:
        return len(queries.list_retrying_runs())
    runs = WorkflowRunProjection.objects.all()
    if status := fields.get("status"):
        runs = runs.filter(status__in=GROUPS.get(status, (status,)))
    return count_up_to(runs, key="run_id")


def list_set_filters(given: dict[str, str], pills: list[FilterPill], *, job_title: str) -> list[SetFilter]:
    """Every filter that is set, but for what the current pill says already."""
    is_pill = any(pill.is_current for pill in pills)
    return [
        SetFilter(word_filter(name, value, job_title=job_title), make_url(given, **{name: ""}))
        for name, value in given.items()
        if not (is_pill and name in PILLED)
    ]


def word_filter(name: str, value: str, *, job_title: str = "") -> str:
    """One filter in words; a value that is not understood stands as it was given."""
    if name == "q":
        return f"“{value}”"
    if name == "type":
        return f"Kind: {name_workflow(value)}"
    if name == "jobId":
        return f"Job: {job_title or value}"
    if name == "sort":
        return SORT_NAMES.get(value, f"Order: {value}")
    if name == "retrying":
        return LABELS[name]
    if name == "status":
        return f"State: {_GROUP_WORDS.get(value) or _word_status(value)}"
    return f"{LABELS[name]} {value}"


def _word_status(status: str) -> str:
    try:
        return describe_run(status).word
    except ValueError:
        return status


def build_fields(given: dict[str, str]) -> dict[str, Any]:
    """What the form shows; a kind that it does not offer, from a typed URL, is shown and not dropped."""
    chosen = given.get("type", "")
    types = (*TYPES, chosen) if chosen and chosen not in TYPES else TYPES
    return {
        "given": given,
        "types": [(name, name_workflow(name)) for name in types],
        "sorts": list(SORT_NAMES.items()),
        "hidden": [(name, value) for name, value in given.items() if name not in FIELDS],
    }


def build_sorts(given: dict[str, str]) -> dict[str, dict[str, str]]:
    """The two headings that sort; the first one turns the order round."""
    sort = given.get("sort", "")
    began = {"": "descending", "oldest": "ascending"}.get(sort, "")
    return {
        "began": {"url": make_url(given, sort="oldest" if sort == "" else ""), "state": began},
        "took": {"url": make_url(given, sort="longest"), "state": "descending" if sort == "longest" else ""},
    }


def find_job_title(given: dict[str, str]) -> str:
    try:
        job_id = UUID(given.get("jobId", ""))
    except ValueError:
        return ""
    return queries.map_job_titles([job_id]).get(job_id, "")
