"""The job list page: what the filters in its URL let through."""

from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from operations.job_actions import list_actions
from operations.job_states import map_lost_of, read_stages
from operations.listing.jobs import JobFilter, list_jobs, read_job_filter
from operations.listing.paging import EXPORT_LIMIT, BadQuery, Page
from operations.models import JobListProjection
from operations.services.saved_views import list_views
from operations.settings_store import find_setting
from operations.views.bulk import BULK_ACTIONS, BULK_LIMIT
from operations.views.estimates import build_estimate
from operations.views.job_filters import (
    FILTER_NAMES,
    Totals,
    build_fields,
    build_pills,
    count_totals,
    join_query,
    keep_filters,
    list_set_filters,
    make_url,
    name_fields,
)
from operations.wording import describe_job

STAGE_CHOICES = (("enrich", "Read"), ("score", "Score"), ("tailor", "Tailor"), ("cover", "Letter"), ("pdf", "Print"))


@require_GET
def show_jobs(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=list`` its table alone."""
    query, cursor = keep_filters(request.GET), request.GET.get("cursor", "")
    is_fragment = request.GET.get("fragment") == "list"
    if not is_fragment and any(name in FILTER_NAMES and not value for name, value in request.GET.items()):
        return redirect(make_url(query))  # a form sends its empty fields too; the address is for people
    status, errors = 200, {}
    try:
        wanted = read_job_filter(request.GET)
        page = list_jobs(wanted, now=timezone.now(), cursor=cursor)
    except BadQuery as bad:
        wanted, page, status, errors = JobFilter(), Page([]), 400, bad.errors
    threshold = int(find_setting("min_fit_score", default=7))
    totals = count_totals(threshold)
    context = build_list(page, query, threshold, cursor=cursor)
    context |= {
        "is_filtered": bool(query),
        "sorts": build_sorts(query, wanted.sort),
        "truth": context["shown"] if query else describe_all(totals, threshold),
    }
    if is_fragment:
        return render(request, "operations/_jobs_live.html", context, status=status)
    pills = build_pills(query, threshold, totals)
    context |= {
        "errors": name_fields(errors),
        "fields": build_fields(query, errors),
        "pills": pills,
        "set_filters": list_set_filters(query, pills),
        "plain_url": make_url(""),
        "saved_views": list_views(request.user, page="jobs"),
        "actions": [action for action in list_actions() if action.name in BULK_ACTIONS],
        "bulk_limit": BULK_LIMIT,
        "export_limit": EXPORT_LIMIT,
        "stage_choices": STAGE_CHOICES,
        "estimate": build_estimate(),
        "query": query,
        "csv_query": join_query(query, format="csv"),
        "json_query": join_query(query, format="json"),
        "idempotency_key": str(uuid4()),
    }
    return render(request, "operations/jobs.html", context, status=status)


def describe_all(totals: Totals, threshold: int) -> str:
    """The one line about the list as a whole."""
    return f"{totals.every} {'job' if totals.every == '1' else 'jobs'} · {totals.good} at {threshold} or above"


def build_list(page: Page[JobListProjection], query: str, threshold: int, *, cursor: str = "") -> dict[str, Any]:
    """What the table's partial needs."""
    lost = map_lost_of(page.rows)
    rows = [
        {
            "job": job,
            "stages": (stages := read_stages(job, lost.get(job.job_id, ()))),
            "state": describe_job(
                stages,
                fit_score=job.fit_score,
                threshold=threshold,
                active_state=job.active_state,
                hidden=job.hidden,
                deleted=job.deleted,
            ),
        }
        for job in page.rows
    ]
    base = reverse("operations:jobs")
    here = f"{query}&{urlencode({'cursor': cursor})}" if cursor else query
    return {
        "rows": rows,
        "threshold": threshold,
        "notes": page.notes,
        "next_url": f"{base}?{join_query(query, cursor=page.next_cursor)}" if page.next_cursor else "",
        "first_url": f"{base}?{query}" if cursor else "",
        "fragment_url": f"{base}?{here}&fragment=list" if here else f"{base}?fragment=list",
        "shown": f"{len(rows)} shown" + (", more to come" if page.next_cursor else ""),
    }


def build_sorts(query: str, current: str) -> dict[str, dict[str, str]]:
    base = reverse("operations:jobs")
    return {
        name: {
            "url": f"{base}?{join_query(query, sort='' if name == 'score' else name)}",
            "state": "descending" if name == current else "",
        }
        for name in ("score", "newest")
    }
