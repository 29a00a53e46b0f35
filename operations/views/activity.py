"""The log as a page: every event has its address."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from operations import queries
from operations.eventlog import list_event_types
from operations.listing.events import EventFilter, list_events, read_event_filter
from operations.listing.paging import BadQuery, Page
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
    titles = queries.map_job_titles([row.job_id for row in page.rows if row.job_id])
    context = {
        "errors": errors,
        "given": given,
        "query": query,
        "rows": [
            {"row": row, "says": describe_event(row.event_type, row.payload), "title": titles.get(row.job_id, "")}
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
    template = "operations/_activity_list.html" if request.GET.get("fragment") == "list" else "operations/activity.html"
    return render(request, template, context, status=status)


@require_GET
def show_event(request: HttpRequest, event_id: int) -> HttpResponse:
    row = queries.find_event(event_id)
    if row is None:
        raise Http404
    context = {
        "row": row,
        "says": describe_event(row.event_type, row.payload),
        "payload": sorted(row.payload.items()),
        "title": queries.map_job_titles([row.job_id]).get(row.job_id, "") if row.job_id else "",
    }
    return render(request, "operations/event.html", context)
