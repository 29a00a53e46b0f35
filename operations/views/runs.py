"""The list of workflow runs."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from operations import queries
from operations.listing.paging import BadQuery, Page
from operations.listing.runs import list_runs, read_run_filter
from operations.models import WorkflowRunProjection
from operations.run_panels import explain_failures
from operations.temporal_probe import temporal_probe
from operations.views.costs import describe_run_costs
from operations.views.run_filters import (
    LABELS,
    SORT_NAMES,
    build_fields,
    build_pills,
    build_sorts,
    find_job_title,
    keep_filters,
    list_set_filters,
    make_url,
)
from operations.wording import Wording, count_of
from operations.wording.activities import describe_retrying

RETRYING_SECONDS: Final = 10


@require_GET
def show_runs(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=list`` its table alone."""
    given, cursor = keep_filters(request.GET), request.GET.get("cursor", "")
    status, errors = 200, {}
    try:
        page = list_runs(read_run_filter(request.GET), cursor=cursor)
    except BadQuery as bad:
        page, status, errors = Page([]), 400, bad.errors
    context = build_list(page, given, cursor)
    if request.GET.get("fragment") == "list":
        return render(request, "operations/_runs_live.html", context, status=status)
    pills = build_pills(given)
    context |= {
        "errors": [(LABELS.get(name, name), reason) for name, reason in errors.items()],
        "pills": pills,
        "fields": build_fields(given),
        "set_filters": list_set_filters(given, pills, job_title=find_job_title(given)),
        "plain_url": make_url({}),
    }
    return render(request, "operations/runs.html", context, status=status)


def build_list(page: Page[WorkflowRunProjection], given: dict[str, str], cursor: str) -> dict[str, Any]:
    names = queries.map_job_names([run.job_id for run in page.rows if run.job_id])
    states = describe_now(page)
    costs = describe_run_costs([run.run_id for run in page.rows])
    retrying = bool(given.get("retrying"))
    is_any_open = any(run.status in queries.OPEN_STATES for run in page.rows)
    return {
        "rows": [
            {
                "run": run,
                "job": names.get(run.job_id),
                "asked": word_jobs(str(run.summary_json.get("jobs", ""))),
                "seconds": measure(run),
                "state": states.get(run.run_id),
                "cost": costs.get(run.run_id, ""),
            }
            for run in page.rows
        ],
        "notes": page.notes,
        "sorts": build_sorts(given),
        "order": SORT_NAMES.get(given.get("sort", ""), SORT_NAMES[""]).lower(),
        "next_url": make_url(given, cursor=page.next_cursor) if page.next_cursor else "",
        "first_url": make_url(given) if cursor else "",
        "fragment_url": make_url(given, cursor=cursor, fragment="list"),
        "refresh_seconds": RETRYING_SECONDS if retrying or is_any_open else 0,
        "shown": f"{len(page.rows)} shown" + (", more to come" if page.next_cursor else ""),
        "is_filtered": bool(given),
        "is_retrying": retrying,
    }


def word_jobs(asked: str) -> str:
    """How many jobs a step was asked for; "" for a run that is about none or one."""
    return count_of(int(asked), "job") if asked.isdecimal() else "every job that was due" if asked else ""


def describe_now(page: Page[WorkflowRunProjection]) -> dict[str, Wording]:
    """The runs of which more is known than their row says: those that try something again, and why some failed."""
    open_ids = [run.run_id for run in page.rows if run.status in queries.OPEN_STATES and not run.cancel_requested]
    found = explain_failures(page.rows)
    if temporal_probe.peek().is_lost:
        return found  # whether anything is tried again now is not known
    for pending in reversed(queries.list_pending(open_ids) if open_ids else []):
        if pending.is_fresh and pending.is_retrying:
            found[pending.run_id] = describe_retrying(pending)
    return found


def measure(run: WorkflowRunProjection) -> float | None:
    """Seconds from start to end; ``None`` while it runs, or where its start or its real end is not known."""
    return None if run.took_ms is None else run.took_ms / 1000
