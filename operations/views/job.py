"""One job: where it stands, what every app knows of it, and what may be done to it."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from operations import queries
from operations.attempts import Attempt, list_attempts
from operations.contracts import StageName, StageState
from operations.job_actions import JobAction, find_action, list_actions
from operations.job_panels import read_panels
from operations.job_states import mark_lost
from operations.listing.events import EventFilter, list_events
from operations.listing.runs import RunFilter, list_runs
from operations.models import JobListProjection
from operations.queries.spend import CallCost, map_stage_costs
from operations.settings_store import find_setting
from operations.views.acting import perform
from operations.views.confirming import ask_first
from operations.views.costs import describe_job_cost, describe_stage_cost
from operations.views.estimates import build_estimate
from operations.wording import STRIP_STAGES, StageMark, describe_event, describe_job, mark_stage
from operations.wording.stages import read_entry

STAGE_ACTIONS = ("run-stage", "retry-stage", "reset-stage", "revoke-stage")
SHOWN_EVENTS = 20
SHOWN_ATTEMPTS = 20


@require_GET
def show_job(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """The whole page, or with ``?fragment=body`` what changes while the job is worked on."""
    job = queries.find_job(job_id)
    if job is None:
        raise Http404
    context = build_job(job)
    if request.GET.get("fragment") == "body":
        return render(request, "operations/_job_body.html", context)
    context |= {
        "actions": [action for action in list_actions() if fits(action, job)],
        "estimate": build_estimate(),
        "stage_actions": [action for action in list_actions() if action.name in STAGE_ACTIONS],
    }
    return render(request, "operations/job.html", context)


def list_shown_stages(timeline: Mapping[str, Any]) -> list[StageName]:
    """The five steps; applying joins them once there is something to apply with, or once it has begun."""
    is_ready = all(mark_stage(timeline.get(stage)) is StageMark.DONE for stage in STRIP_STAGES)
    has_begun = mark_stage(timeline.get(StageName.APPLY)) is not StageMark.TODO
    return [*STRIP_STAGES, *([StageName.APPLY] if is_ready or has_begun else [])]


def describe_stages(
    timeline: Mapping[str, Any], attempts: Mapping[str, Sequence[Attempt]], costs: Mapping[str, CallCost]
) -> list[dict[str, Any]]:
    """Each step as it stands, and its attempts where that does not say all of them."""
    shown = []
    for stage in list_shown_stages(timeline):
        entry, tried = timeline.get(stage), attempts.get(stage, ())
        says_all = len(tried) < 2 and read_entry(entry)[0] in (StageState.RUNNING, StageState.SUCCEEDED)
        cost = describe_stage_cost(costs.get(stage))
        shown.append(
            {"name": stage, "entry": entry, "attempts": () if says_all else tried[:SHOWN_ATTEMPTS], "cost": cost}
        )
    return shown


def find_failed_stage(timeline: Mapping[str, Any]) -> StageName | None:
    """The step that a person may try again, next to the sentence that says so."""
    return next((stage for stage in STRIP_STAGES if mark_stage(timeline.get(stage)) is StageMark.FAILED), None)


def fits(action: JobAction, job: JobListProjection) -> bool:
    """Whether the button makes sense now; the service has the last word."""
    if action.needs_stage:
        return False
    opposite = {"hide": not job.hidden, "unhide": job.hidden, "delete": not job.deleted, "restore": job.deleted}
    if action.name == "cancel":
        return bool(queries.list_open_runs_of_job(job.job_id))
    return opposite.get(action.name, True)


def build_job(job: Any) -> dict[str, Any]:
    threshold = int(find_setting("min_fit_score", default=7))
    lost = queries.map_lost_stages([job.job_id]).get(job.job_id, frozenset())
    timeline, costs = mark_lost(job.detail.stages_json, lost), map_stage_costs(job.job_id)
    return {
        "job": job,
        "threshold": threshold,
        "state": describe_job(
            timeline or mark_lost(job.stages_json, lost),
            fit_score=job.fit_score,
            threshold=threshold,
            active_state=job.active_state,
            hidden=job.hidden,
            deleted=job.deleted,
        ),
        "timeline": timeline,
        "stages": describe_stages(timeline, list_attempts(job.job_id, lost=lost), costs),
        "cost": describe_job_cost(costs),
        "failed_stage": find_failed_stage(timeline),
        "lost_stages": [stage for stage in StageName if stage in lost],
        "is_worked_on": any(read_entry(entry)[0] is StageState.RUNNING for entry in timeline.values()),
        "release": find_action("release-stage"),
        "idempotency_key": str(uuid4()),
        "panels": read_panels(job.job_id),
        "runs": list_runs(RunFilter(job_id=job.job_id), limit=10).rows,
        "events": [
            {"row": row, "says": describe_event(row.event_type, row.read_payload())}
            for row in list_events(EventFilter(job_id=job.job_id), limit=SHOWN_EVENTS).rows
        ],
    }


@require_POST
def act_on_job(request: HttpRequest, job_id: UUID) -> HttpResponse:
    action = find_action(request.POST.get("action", ""))
    if queries.find_job(job_id) is None:
        raise Http404
    if action is None:
        messages.error(request, "There is no such action. Reload the page and choose again.")
        return redirect("operations:job", job_id)
    if action.consequence:
        page = ask_first(
            request,
            title=f"{action.label}?",
            consequence=action.consequence,
            label=action.label,
            back=request.path.removesuffix("actions/"),
        )
        if page is not None:
            return page
    perform(request, action, (job_id,))
    return redirect("operations:job", job_id)
