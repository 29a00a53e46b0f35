"""The first page: what needs a person, then today, the funnel and the newest runs."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from operations import attention, queries
from operations.contracts import StageName
from operations.errors import OperationsError
from operations.first_steps import read_first_steps
from operations.folding.engine import list_flagged_apps
from operations.job_states import map_lost_of, mark_lost, read_stages
from operations.listing.jobs import ORDERS
from operations.listing.runs import RunFilter, list_runs
from operations.models import JobListProjection, WorkflowRunProjection
from operations.settings_store import find_setting
from operations.stage_engine.counters import read_counters
from operations.starters import StartOrder, start_stage
from operations.views.acting import KEY_LIMIT, describe_started
from operations.views.counting import count_up_to
from operations.views.estimates import build_estimate
from operations.views.funnel import build_funnel, count_lost
from operations.views.runs import measure
from operations.views.today import read_today
from operations.wording import describe_job

SHOWN = 8
SHOWN_RUNS = 5
EARLIEST = datetime.min.replace(tzinfo=UTC)


@require_GET
def show_dashboard(request: HttpRequest) -> HttpResponse:
    """The whole page, or with ``?fragment=body`` its live part."""
    context = build_dashboard() | {"idempotency_key": str(uuid4())}
    template = "operations/_dashboard.html" if request.GET.get("fragment") == "body" else "operations/dashboard.html"
    return render(request, template, context)


def build_dashboard() -> dict[str, Any]:
    threshold = int(find_setting("min_fit_score", default=7))
    counters = read_counters()
    found = sum(counters.get(StageName.ENRICH, {}).values())
    good = count_up_to(JobListProjection.objects.filter(deleted=False, hidden=False, sort_score__gte=threshold))
    ready = count_up_to(
        JobListProjection.objects.filter(deleted=False, hidden=False, has_documents=True, sort_score__gte=threshold)
    )
    runs = list_asked_runs()
    open_runs = list_runs(RunFilter(status="open"), limit=50).rows
    needing, best = list_needing(), list_best()
    lost = map_lost_of([*needing, *best])
    titles = queries.map_job_titles([run.job_id for run in runs if run.job_id])
    return {
        "first_steps": read_first_steps(),
        "found": found,
        "threshold": threshold,
        "good": good,
        "ready": ready,
        "good_words": f"{threshold} or above",
        "needing": [describe_needing(job, threshold, lost.get(job.job_id, ())) for job in needing],
        "today": read_today(timezone.now()),
        "best": [describe_best(job, threshold, lost.get(job.job_id, ())) for job in best],
        "funnel": build_funnel(counters, found, lost=count_lost(counters)),
        "runs": [{"run": run, "title": titles.get(run.job_id, ""), "seconds": measure(run)} for run in runs],
        "open_count": len(open_runs),
        "discovering": next((run for run in open_runs if run.workflow_type == "DiscoverWorkflow"), None),
        "flagged": list_flagged_apps(),
        "estimate": build_estimate(),
    }


def list_asked_runs() -> list[WorkflowRunProjection]:
    """The newest that somebody asked for; the preparations that a discovery starts, one a job, would drown them."""
    kinds = ("DiscoverWorkflow", "JobPipelineWorkflow")
    found = [run for kind in kinds for run in list_runs(RunFilter(workflow_type=kind), limit=SHOWN_RUNS).rows]
    return sorted(found, key=lambda run: run.first_seen_at or EARLIEST, reverse=True)[:SHOWN_RUNS]


def list_needing() -> list[JobListProjection]:
    ids = attention.list_needing_person(limit=SHOWN)
    return list(JobListProjection.objects.filter(Q(job_id__in=ids)).order_by("-sort_score", "-discovered_at"))


def list_best() -> list[JobListProjection]:
    """The best scored jobs with documents, straight from the default list's index."""
    rows = JobListProjection.objects.filter(deleted=False, hidden=False, sort_score__gte=1)
    return list(rows.order_by(*(f"-{name}" for name in ORDERS["score"]))[:SHOWN])


def describe_needing(job: JobListProjection, threshold: int, lost: Collection[str]) -> dict[str, Any]:
    stages = mark_lost(queries.find_timeline(job.job_id) or read_stages(job), lost)
    return {"job": job, "state": describe_job(stages, fit_score=job.fit_score, threshold=threshold)}


def describe_best(job: JobListProjection, threshold: int, lost: Collection[str]) -> dict[str, Any]:
    stages = read_stages(job, lost)
    state = describe_job(stages, fit_score=job.fit_score, threshold=threshold, active_state=job.active_state)
    return {"job": job, "state": state}


@require_POST
def start_discovery(request: HttpRequest) -> HttpResponse:
    """The dashboard's one button: look for jobs now."""
    key = request.POST.get("key", "")[:KEY_LIMIT]
    try:
        started = start_stage(StartOrder(StageName.DISCOVER, idempotency_key=key))
    except OperationsError as error:
        messages.error(request, error.message)
        return redirect("operations:dashboard")
    messages.success(request, f"Looking for jobs. {describe_started(started)}")
    return redirect("operations:run", started.run_id)
