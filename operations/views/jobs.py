"""The job list: filters in the URL, bulk actions over a selection or over all that match."""

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from operations import attention
from operations.job_actions import find_action, list_actions
from operations.job_states import map_lost_of, read_stages
from operations.listing.jobs import MOST_NEEDING, JobFilter, list_job_ids, list_jobs, read_job_filter
from operations.listing.paging import BadQuery, Page
from operations.models import JobListProjection
from operations.services.saved_views import list_views
from operations.settings_store import find_setting
from operations.templatetags.ui import FilterPill
from operations.views.acting import perform
from operations.views.confirming import ask_first
from operations.views.counting import count_up_to
from operations.wording import describe_job

FILTER_NAMES = (
    *("q", "stage", "state", "minScore", "maxScore", "source", "active", "maxAgeDays"),
    *("documents", "needs", "view", "sort"),
)
BULK_LIMIT = 1000
BULK_ACTIONS = ("hide", "unhide", "delete", "restore", "retry-stage", "run-stage", "cancel")
AGES = ((1, "Found today"), (3, "In three days"), (7, "In a week"), (30, "In a month"))
STAGE_CHOICES = (("enrich", "Read"), ("score", "Score"), ("tailor", "Tailor"), ("cover", "Letter"), ("pdf", "Print"))


@require_GET
def show_jobs(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=list`` its table alone."""
    query = keep_filters(request.GET)
    status, errors = 200, {}
    try:
        wanted = read_job_filter(request.GET)
        page = list_jobs(wanted, now=timezone.now(), cursor=request.GET.get("cursor", ""))
    except BadQuery as bad:
        wanted, page, status, errors = JobFilter(), Page([]), 400, bad.errors
    context = build_list(page, query, cursor=request.GET.get("cursor", ""))
    context |= {"is_filtered": bool(query), "truth": context["shown"] if query else describe_all()}
    if request.GET.get("fragment") == "list":
        return render(request, "operations/_jobs_live.html", context, status=status)
    context |= {
        "errors": errors,
        "filter": wanted,
        "pills": build_pills(query),
        "sorts": build_sorts(query, wanted.sort),
        "saved_views": list_views(request.user, page="jobs"),
        "actions": [action for action in list_actions() if action.name in BULK_ACTIONS],
        "stage_choices": STAGE_CHOICES,
        "ages": AGES,
        "query": query,
        "hidden_filters": [(name, value) for name, value in split_query(query) if name not in ("q", "maxAgeDays")],
        "idempotency_key": str(uuid4()),
    }
    return render(request, "operations/jobs.html", context, status=status)


def describe_all() -> str:
    """The one line about the list as a whole; each count reads at most a thousand index rows."""
    threshold = int(find_setting("min_fit_score", default=7))
    visible = JobListProjection.objects.filter(deleted=False, hidden=False)
    every, good = count_up_to(visible), count_up_to(visible.filter(sort_score__gte=threshold))
    return f"{every} {'job' if every == '1' else 'jobs'} · {good} at {threshold} or above"


def build_list(page: Page[JobListProjection], query: str, *, cursor: str = "") -> dict[str, Any]:
    """What the table's partial needs."""
    threshold = int(find_setting("min_fit_score", default=7))
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


def keep_filters(given: QueryDict) -> str:
    """The known filters of a query string, in a fixed order, so that a URL can be compared and shared."""
    return urlencode([(name, str(given[name])) for name in FILTER_NAMES if given.get(name)])


def split_query(query: str) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in QueryDict(query).items()]


def join_query(query: str, **more: str) -> str:
    """The query with some fields set, or removed where they are ""."""
    kept = [(name, value) for name, value in split_query(query) if name not in more]
    return urlencode([*kept, *((name, value) for name, value in more.items() if value)])


def build_pills(query: str) -> list[FilterPill]:
    """The usual questions, each one click; a pill keeps the search text and the order."""
    current: dict[str, str] = dict(split_query(query))
    kept: dict[str, str] = {name: current[name] for name in ("q", "sort") if name in current}
    asked = {name: value for name, value in current.items() if name not in kept}
    threshold = str(find_setting("min_fit_score", default=7))
    needing = len(attention.list_needing_person(limit=MOST_NEEDING))
    choices: tuple[tuple[str, dict[str, str], int | None, str], ...] = (
        ("All", {}, None, ""),
        ("Needs you", {"needs": "me"}, needing, "person" if needing else ""),
        (f"{threshold} or above", {"minScore": threshold}, None, ""),
        ("Documents ready", {"documents": "yes"}, None, ""),
        ("Closed", {"active": "closed"}, None, ""),
        ("Hidden", {"view": "hidden"}, None, ""),
        ("Deleted", {"view": "deleted"}, None, ""),
    )
    base = reverse("operations:jobs")
    return [
        FilterPill(label, f"{base}?{urlencode({**kept, **fields})}", asked == fields, count, tone)
        for label, fields, count, tone in choices
    ]


def build_sorts(query: str, current: str) -> dict[str, dict[str, str]]:
    base = reverse("operations:jobs")
    return {
        name: {
            "url": f"{base}?{join_query(query, sort='' if name == 'score' else name)}",
            "state": "descending" if name == current else "",
        }
        for name in ("score", "newest")
    }


@require_POST
def act_on_jobs(request: HttpRequest) -> HttpResponse:
    """One action over the ticked jobs, or over all that match the filters."""
    query = keep_filters(QueryDict(request.POST.get("query", "")))
    back = f"{reverse('operations:jobs')}?{query}" if query else reverse("operations:jobs")
    action = find_action(request.POST.get("action", ""))
    if action is None or action.name not in BULK_ACTIONS:
        messages.error(request, "Choose what to do with these jobs.")
        return redirect(back)
    job_ids = choose_jobs(request, query)
    if not job_ids:
        messages.warning(request, "No job was ticked, so nothing was changed.")
        return redirect(back)
    if action.consequence:
        page = ask_first(
            request,
            title=f"{action.label} {len(job_ids)} job{'s' if len(job_ids) != 1 else ''}?",
            consequence=action.consequence,
            label=action.label,
            back=back,
        )
        if page is not None:
            return page
    perform(request, action, job_ids)
    return redirect(back)


def choose_jobs(request: HttpRequest, query: str) -> list[UUID]:
    if request.POST.get("scope") == "all":
        try:
            return list_job_ids(read_job_filter(QueryDict(query)), now=timezone.now(), limit=BULK_LIMIT)
        except BadQuery:
            return []
    found = []
    for value in request.POST.getlist("job")[:BULK_LIMIT]:
        try:
            found.append(UUID(value))
        except ValueError:
            continue
    return found
