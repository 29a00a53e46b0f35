"""The list of workflow runs."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from operations import queries
from operations.listing.paging import BadQuery, Page
from operations.listing.runs import RunFilter, list_runs, read_run_filter
from operations.models import WorkflowRunProjection
from operations.templatetags.ui import FilterPill
from operations.wording import name_workflow

FILTER_NAMES = ("status", "type", "jobId", "since", "until", "q")
TYPES = ("DiscoverWorkflow", "JobPreparationWorkflow", "JobPipelineWorkflow")


@require_GET
def show_runs(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=list`` its table alone."""
    given = {name: request.GET[name] for name in FILTER_NAMES if request.GET.get(name)}
    query, cursor = urlencode(given), request.GET.get("cursor", "")
    status, errors = 200, {}
    try:
        wanted = read_run_filter(request.GET)
        page = list_runs(wanted, cursor=cursor)
    except BadQuery as bad:
        wanted, page, status, errors = RunFilter(), Page([]), 400, bad.errors
    context = build_list(page, query, cursor) | {"is_filtered": bool(given)}
    if request.GET.get("fragment") == "list":
        return render(request, "operations/_runs_live.html", context, status=status)
    context |= {
        "errors": errors,
        "filter": wanted,
        "given": given,
        "pills": build_pills(given),
        "types": [(name, name_workflow(name)) for name in TYPES],
    }
    return render(request, "operations/runs.html", context, status=status)


def build_list(page: Page[WorkflowRunProjection], query: str, cursor: str) -> dict[str, Any]:
    base = reverse("operations:runs")
    titles = queries.map_job_titles([run.job_id for run in page.rows if run.job_id])
    here = "&".join(part for part in (query, urlencode({"cursor": cursor}) if cursor else "", "fragment=list") if part)
    more = "&".join(part for part in (query, urlencode({"cursor": page.next_cursor})) if part)
    return {
        "rows": [{"run": run, "title": titles.get(run.job_id, ""), "seconds": measure(run)} for run in page.rows],
        "next_url": f"{base}?{more}" if page.next_cursor else "",
        "first_url": f"{base}?{query}" if cursor else "",
        "fragment_url": f"{base}?{here}",
        "shown": f"{len(page.rows)} shown" + (", more to come" if page.next_cursor else ""),
    }


def measure(run: WorkflowRunProjection) -> float | None:
    """Seconds from start to end; ``None`` while it runs or where its start is not known."""
    if run.started_at is None or run.ended_at is None:
        return None
    return (run.ended_at - run.started_at).total_seconds()


def build_pills(given: dict[str, str]) -> list[FilterPill]:
    base = reverse("operations:runs")
    kept = {name: value for name, value in given.items() if name != "status"}
    choices = (("All", ""), ("Running", "open"), ("Ended badly", "ended_badly"), ("Done", "succeeded"),
               ("Canceled", "canceled"))  # fmt: skip
    return [
        FilterPill(
            label,
            f"{base}?{urlencode({**kept, **({'status': status} if status else {})})}",
            given.get("status", "") == status,
        )
        for label, status in choices
    ]
