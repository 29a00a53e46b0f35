"""The filters of the activity page: a job by its words, a run by its ID, and what is set now."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.urls import reverse
from django.utils.http import urlencode

from operations import queries
from operations.listing.paging import is_storable
from operations.search_index import SHORTEST_TERM, find_matching_jobs
from operations.views.run_filters import SetFilter

#: In the order in which a URL holds them.
FILTER_NAMES: Final = ("type", "jobId", "runId", "workflowId", "q")
LABELS: Final = {
    "type": "Kind",
    "job": "Job",
    "jobId": "Job",
    "run": "Run",
    "runId": "Run",
    "workflowId": "Workflow",
    "q": "Words",
    "cursor": "Place in the list",
}
MOST_OFFERED: Final = 8
LONGEST: Final = 200
TOO_SHORT: Final = f"write {SHORTEST_TERM} letters or more of its title or company, or its ID"
NO_JOB: Final = "no job has these words in its title, company or place"
NO_RUN: Final = "no run and no workflow has this ID; the Runs page finds one by how its ID begins"
TOO_LONG: Final = f"it is longer than {LONGEST} characters, or holds what no text holds"


@dataclass(slots=True)
class Asked:
    """What the form's two open fields came to: filters to go on with, jobs to choose from, or why neither."""

    filters: dict[str, str] = field(default_factory=dict)
    offered: list[SetFilter] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)


def keep_filters(given: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name in FILTER_NAMES if (value := str(given.get(name, "")).strip())}


def make_url(given: Mapping[str, str], **more: str) -> str:
    asked = {name: value for name, value in {**given, **more}.items() if value}
    base = reverse("operations:activity")
    return f"{base}?{urlencode(asked)}" if asked else base


def read_open_fields(params: Mapping[str, str], given: Mapping[str, str]) -> Asked | None:
    """``None`` where neither was filled in."""
    job, run = params.get("job", "").strip(), params.get("run", "").strip()
    if not job and not run:
        return None
    asked = Asked()
    for name, text, find in (("job", job, _find_job), ("run", run, _find_run)):
        if len(text) > LONGEST or not is_storable(text):
            asked.errors[name] = TOO_LONG
        elif text:
            find(text, given, asked)
    return asked


def _find_job(text: str, given: Mapping[str, str], asked: Asked) -> None:
    try:
        asked.filters["jobId"] = str(UUID(text))
        return
    except ValueError:
        terms = text.split()[:8]
    if any(len(term) < SHORTEST_TERM for term in terms):
        asked.errors["job"] = TOO_SHORT
        return
    found = find_matching_jobs(terms, limit=MOST_OFFERED).job_ids
    if len(found) == 1:
        asked.filters["jobId"] = str(found[0])
        return
    names = queries.map_job_names(found)
    asked.offered += [
        SetFilter(", ".join(part for part in names.get(job_id, ()) if part), make_url(given, jobId=str(job_id)))
        for job_id in found
    ]
    if not found:
        asked.errors["job"] = NO_JOB


def _find_run(text: str, given: Mapping[str, str], asked: Asked) -> None:
    if queries.find_run(text) is not None:
        asked.filters |= {"runId": text, "workflowId": ""}
    elif queries.has_workflow(text):
        asked.filters |= {"workflowId": text, "runId": ""}
    else:
        asked.errors["run"] = NO_RUN


def list_set_filters(given: Mapping[str, str]) -> list[SetFilter]:
    """Every filter that is set, in words, with the list without it."""
    return [SetFilter(_word(name, value), make_url(given, **{name: ""})) for name, value in given.items()]


def _word(name: str, value: str) -> str:
    if name == "q":
        return f"“{value}”"
    if name == "jobId":
        return f"Job: {_find_title(value) or value}"
    return f"{LABELS[name]}: {value}"


def _find_title(job_id: str) -> str:
    try:
        found = UUID(job_id)
    except ValueError:
        return ""
    return queries.map_job_titles([found]).get(found, "")
