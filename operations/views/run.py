"""One workflow run: how it went, what it was asked, and cancel."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from operations import queries
from operations.contracts import ExecutionRef, StageName, StageState
from operations.errors import OperationsError
from operations.listing.events import LIFECYCLE, EventFilter, list_events
from operations.models import JobEventRow, WorkflowRunProjection
from operations.run_panels import explain_failures, read_run_panels
from operations.services.cancellation import cancel_run
from operations.temporal_probe import temporal_probe
from operations.views.confirming import ask_first
from operations.views.costs import describe_preparations_cost, describe_run_cost
from operations.views.funnel import build_funnel, count_lost
from operations.views.runs import measure
from operations.wording import describe_event, describe_facts, describe_run, describe_steps
from operations.wording.activities import describe_pending

SHOWN_EVENTS = 200
MOST_JOBS_COUNTED = 5000
MOVING = (StageState.QUEUED, StageState.RUNNING)
MOVING_SECONDS = 5
RECENT = timedelta(minutes=15)


@require_GET
def show_run(request: HttpRequest, run_id: str) -> HttpResponse:
    """The whole page, or with ``?fragment=body`` what changes while it runs."""
    run = queries.find_run_row(run_id)
    if run is None:
        raise Http404
    template = "operations/_run_body.html" if request.GET.get("fragment") == "body" else "operations/run.html"
    return render(request, template, build_run(run))


def build_run(run: WorkflowRunProjection) -> dict[str, Any]:
    ref = ExecutionRef(run.tenant_id, run.workflow_id, run.run_id)
    events = list_lifecycle(run)
    job = queries.find_job(run.job_id) if run.job_id else None
    plans = queries.count_plans(ref) if run.workflow_type == "DiscoverWorkflow" else {}
    is_open = run.status in queries.OPEN_STATES
    is_checked = not temporal_probe.peek().is_lost
    explained = explain_failures([run]).get(run.run_id)
    return build_progress(run, ref, plans) | {
        "run": run,
        "job": job,
        "state": explained
        or describe_run(
            run.status,
            error_code=run.error_code,
            reason_code=run.reason_code,
            provisional=run.provisional,
            cancel_requested=run.cancel_requested,
            is_checked=is_checked,
        ),
        "is_open": is_open,
        "took": measure(run),
        "cost": describe_run_cost(run.run_id),
        "preparations_cost": describe_preparations_cost(ref, since=run.first_seen_at) if plans else "",
        "pending": [
            describe_pending(row, is_checked=is_checked)
            for row in (queries.list_pending([run.run_id]) if is_open else [])
        ],
        "panels": read_run_panels(run, is_open=is_open),
        "steps": describe_steps(
            queries.list_step_rows(ref),
            is_over=not is_open,
            is_lost=run.provisional,
            is_retried=is_open or explained is not None,
            is_checked=is_checked,
        ),
        "plans": plans,
        "events": [
            {"row": row, "says": describe_event(row.event_type, row.read_payload())} for row in reversed(events)
        ],
        "is_cut": len(events) == SHOWN_EVENTS,
        "summary": describe_facts(run.summary_json),
        "result": describe_facts(run.result_json),
        "temporal_command": queries.build_temporal_command(run.workflow_id, run.run_id),
        "temporal_url": queries.find_temporal_url(run.workflow_id, run.run_id),
    }


def build_progress(run: WorkflowRunProjection, ref: ExecutionRef, plans: Mapping[str, int]) -> dict[str, Any]:
    """How far the jobs of a discovery are; they are prepared by runs of their own, so this also moves after its end."""
    if not 0 < sum(plans.values()) <= MOST_JOBS_COUNTED:
        return {}
    counters = queries.count_stage_states(ref)
    found = sum(counters.get(StageName.ENRICH, {}).values())
    is_recent = run.ended_at is None or timezone.now() - run.ended_at < RECENT
    lost = count_lost(counters, ref)
    held = sum(states.get(state, 0) for states in counters.values() for state in MOVING)
    is_moving = is_recent or held > sum(lost.values())
    return {"funnel": build_funnel(counters, found, lost=lost), "refresh_seconds": MOVING_SECONDS if is_moving else 0}


def list_lifecycle(run: WorkflowRunProjection) -> Sequence[JobEventRow]:
    """A run's own story, newest first: what it does job by job is on the jobs' pages, unless it is about one job."""
    about = "" if run.job_id else LIFECYCLE
    return list_events(EventFilter(run_id=run.run_id, family=about), limit=SHOWN_EVENTS).rows


@require_POST
def stop_run(request: HttpRequest, run_id: str) -> HttpResponse:
    if queries.find_run_row(run_id) is None:
        raise Http404
    page = ask_first(
        request,
        title="Cancel this run?",
        consequence="It stops at the next safe point. What it has finished is kept.",
        label="Cancel the run",
        back=request.path.removesuffix("cancel/"),
    )
    if page is not None:
        return page
    try:
        cancel_run(run_id, requester=request.user.get_username())
    except OperationsError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Asked to stop. It ends at the next safe point; this page follows it.")
    return redirect("operations:run", run_id)
