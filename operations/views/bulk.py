"""One action over the ticked jobs, or over all that match, a thousand at a time."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from operations.job_actions import JobAction, find_action
from operations.listing.jobs import MOST_COUNTED, count_jobs, list_job_ids, read_job_filter
from operations.listing.paging import BadQuery
from operations.views.acting import perform
from operations.views.confirming import ask_first, list_posted
from operations.views.job_filters import keep_filters, make_url
from operations.wording import count_of

BULK_LIMIT: Final = 1000
BULK_ACTIONS: Final = ("hide", "unhide", "delete", "restore", "retry-stage", "run-stage", "cancel")


@dataclass(frozen=True, slots=True)
class Chosen:
    """``job_ids`` are the first of ``total``; ``after`` is where the others begin, "" = there are none."""

    job_ids: list[UUID]
    total: int
    after: str = ""

    @property
    def left(self) -> int:
        return self.total - len(self.job_ids)


@require_POST
def act_on_jobs(request: HttpRequest) -> HttpResponse:
    query = keep_filters(QueryDict(request.POST.get("query", "")))
    back = make_url(query)
    action = find_action(request.POST.get("action", ""))
    if action is None or action.name not in BULK_ACTIONS:
        messages.error(request, "Choose what to do with these jobs.")
        return redirect(back)
    is_all = request.POST.get("scope") == "all"
    try:
        chosen = choose_matching(query, after=request.POST.get("after", "")) if is_all else choose_ticked(request)
    except BadQuery:
        messages.error(request, "These filters are not understood, so nothing was changed. Correct them first.")
        return redirect(back)
    if not chosen.job_ids:
        why = "No job matches" if is_all else "No job was ticked"
        messages.warning(request, f"{why}, so nothing was changed.")
        return redirect(back)
    if action.consequence:
        page = ask_first(
            request,
            title=f"{action.label} {count_of(chosen.total, 'job')}?",
            consequence=action.consequence,
            label=action.label,
            back=back,
        )
        if page is not None:
            return page
    is_done = perform(request, action, chosen.job_ids)
    return offer_rest(request, action, chosen, back) if is_done and chosen.after else redirect(back)


def offer_rest(request: HttpRequest, action: JobAction, chosen: Chosen, back: str) -> HttpResponse:
    """How many are left, and one button for the next of them; under a key of its own, as it is a request of its own."""
    left = f"{count_of(chosen.left, 'more job')} {'matches' if chosen.left == 1 else 'match'}"
    fields = [(name, value) for name, value in list_posted(request) if name not in ("key", "after", "job")]
    fields += [("key", str(uuid4())), ("after", chosen.after)]
    coming = min(chosen.left, BULK_LIMIT)
    context = {
        "title": left if chosen.total < MOST_COUNTED else f"At least {left}",
        "tone": "danger" if action.consequence else "primary",
        "consequence": f"{count_of(len(chosen.job_ids), 'job')} of {chosen.total:,} are through. "
        f"The rest is as it was; go on with the next {coming:,}, or leave it so.",
        "label": f"{action.label} the next {coming:,}",
        "back": back,
        "fields": fields,
    }
    return render(request, "confirm.html", context)


def choose_matching(query: str, *, after: str) -> Chosen:
    """The first thousand from ``after`` on; raises ``BadQuery``."""
    wanted, now = read_job_filter(QueryDict(query)), timezone.now()
    job_ids, following = list_job_ids(wanted, now=now, after=after, limit=BULK_LIMIT)
    total = count_jobs(wanted, now=now, after=after) if following else len(job_ids)
    return Chosen(job_ids, total, following)


def choose_ticked(request: HttpRequest) -> Chosen:
    found: dict[UUID, None] = {}
    for value in request.POST.getlist("job")[:BULK_LIMIT]:
        try:
            found[UUID(value)] = None
        except ValueError:
            continue
    return Chosen(list(found), len(found))
