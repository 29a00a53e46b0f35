"""The log as a page: every event has its address."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from operations import queries
from operations.eventlog import list_event_types
from operations.listing.events import list_events, read_event_filter
from operations.listing.paging import BadQuery, Page
from operations.models import JobEventRow, WorkflowRunProjection
from operations.views.activity_filters import LABELS, keep_filters, list_set_filters, make_url, read_open_fields
from operations.wording import describe_event


@require_GET
def show_activity(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=list`` its list alone. A job or a run that was typed becomes a filter."""
    given, cursor = keep_filters(request.GET), request.GET.get("cursor", "")
    asked = read_open_fields(request.GET, given)
    if asked and not asked.errors and not asked.offered:
        return redirect(make_url(given | asked.filters))
    errors = dict(asked.errors) if asked else {}
    try:
        page = list_events(read_event_filter(request.GET), cursor=cursor)
    except BadQuery as bad:
        page, errors = Page([]), errors | bad.errors
    status = 400 if errors else 200
    context = build_list(page, given, cursor)
    if request.GET.get("fragment") == "list":
        return render(request, "operations/_activity_live.html", context, status=status)
    context |= {
        "errors": [(LABELS.get(name, name), reason) for name, reason in errors.items()],
        "given": given,
        "typed": {name: request.GET.get(name, "") for name in ("job", "run")},
        "offered": asked.offered if asked else [],
        "query": urlencode(given),
        "set_filters": list_set_filters(given),
        "plain_url": make_url({}),
        "types": sorted([*list_event_types(), "StageQueued"]),
    }
    return render(request, "operations/activity.html", context, status=status)


def build_list(page: Page[JobEventRow], given: Mapping[str, str], cursor: str) -> dict[str, Any]:
    jobs = {row.id: row.job_id for row in page.rows if row.job_id} | map_run_jobs(page.rows)
    titles = queries.map_job_titles(list(set(jobs.values())))
    return {
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
        "next_url": make_url(given, cursor=page.next_cursor) if page.next_cursor else "",
        "first_url": make_url(given) if cursor else "",
        "fragment_url": make_url(given, cursor=cursor, fragment="list"),
        "shown": f"{len(page.rows)} shown" + (", more to come" if page.next_cursor else ""),
    }


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
