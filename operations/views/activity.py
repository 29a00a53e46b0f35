"""The log as a page: every event has its address."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from operations import queries
from operations.eventlog import list_event_types
from operations.listing.events import EventFilter, list_events, read_event_filter
from operations.listing.paging import BadQuery, Page
from operations.models import JobEventRow, WorkflowRunProjection
from operations.wording import describe_event

FILTER_NAMES = ("type", "jobId", "runId", "workflowId", "q")


@require_GET
def show_activity(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=list`` its list alone."""
    given = {name: request.GET[name] for name in FILTER_NAMES if request.GET.get(name)}
    query, cursor = urlencode(given), request.GET.get("cursor", "")
    status, errors = 200, {}
    try:
        wanted = read_event_filter(request.GET)
        page = list_events(wanted, cursor=cursor)
    except BadQuery as bad:
        wanted, page, status, errors = EventFilter(), Page([]), 400, bad.errors
    base = reverse("operations:activity")
    jobs = {row.id: row.job_id for row in page.rows if row.job_id} | map_run_jobs(page.rows)
    titles = queries.map_job_titles(list(set(jobs.values())))
    context = {
        "errors": errors,
        "given": given,
        "query": query,
        "rows": [
            {
                "row": row,
                "says": describe_event(row.event_type, row.read_payload()),
                "job_id": jobs.get(row.id),
                "title": titles.get(jobs[row.id], "") if row.id in jobs else "",
            }
            for row in page.rows
        ],
        "notes": page.notes,
        "types": sorted([*list_event_types(), "StageQueued"]),
        "next_url": f"{base}?{urlencode({**given, 'cursor': page.next_cursor})}" if page.next_cursor else "",
        "first_url": f"{base}?{query}" if cursor else "",
        "fragment_url": f"{base}?{urlencode({**given, **({'cursor': cursor} if cursor else {}), 'fragment': 'list'})}",
        "shown": f"{len(page.rows)} shown" + (", more to come" if page.next_cursor else ""),
        "is_filtered": bool(given),
    }
    template = "operations/_activity_live.html" if request.GET.get("fragment") == "list" else "operations/activity.html"
    return render(request, template, context, status=status)


def map_run_jobs(rows: Sequence[JobEventRow]) -> dict[int, UUID]:
    """Event id to the job that its run is about, where the event itself names none: one read for the page."""
    wanted = {row.run_id for row in rows if row.run_id and not row.job_id}
    runs = WorkflowRunProjection.objects.filter(run_id__in=wanted)
    about = {run_id: job_id for run_id, job_id in runs.values_list("run_id", "job_id") if job_id is not None}
    return {row.id: about[row.run_id] for row in rows if not row.job_id and row.run_id in about}


def show_value(value: Any) -> str:
    """As the API would write it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@require_GET
def show_event(request: HttpRequest, event_id: int) -> HttpResponse:
    row = queries.find_event(event_id)
    if row is None:
        raise Http404
    context = {
        "row": row,
        "says": describe_event(row.event_type, row.read_payload()),
        "payload": [(name, show_value(value)) for name, value in sorted(row.payload.items())],
        "title": queries.map_job_titles([row.job_id]).get(row.job_id, "") if row.job_id else "",
    }
    return render(request, "operations/event.html", context)
