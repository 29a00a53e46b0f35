"""Reads of the engine's tables. Each says its cost where it is not one index lookup."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from operations.contracts import (
    HEARTBEAT_FRESH_SECONDS,
    STAGE_AFTER,
    ExecutionRef,
    StageName,
    StageState,
    StepKind,
    WorkPlan,
)
from operations.models import (
    DiscoveryExecutionJob,
    JobDetailProjection,
    JobEventRow,
    JobListProjection,
    JobStageState,
    PipelineStepProjection,
    WorkerRuntimeHeartbeat,
    WorkflowRunProjection,
)
from operations.stage_engine.states import CLAIMABLE

CONTENT_EVENTS = ("JobDiscovered", "JobUpdated", "JobEnriched", "PostingContentSnapshotCaptured")


@dataclass(frozen=True, slots=True)
class RunRow:
    """One workflow run as the projection shows it."""

    run_id: str
    workflow_id: str
    workflow_type: str
    status: str
    error_code: str
    result: dict[str, str]
    started_at: datetime | None
    ended_at: datetime | None


def find_fresh_worker() -> datetime | None:
    """When a worker of this workspace was last seen, if within 45 seconds and not stopped since."""
    since = timezone.now() - timedelta(seconds=HEARTBEAT_FRESH_SECONDS)
    return (
        WorkerRuntimeHeartbeat.objects.filter(last_seen_at__gte=since, stopped_at__isnull=True)
        .order_by("-last_seen_at")
        .values_list("last_seen_at", flat=True)
        .first()
    )


def find_run(run_id: str) -> RunRow | None:
    row = WorkflowRunProjection.objects.filter(run_id=run_id).first()
    return None if row is None else _to_run(row)


def _to_run(row: WorkflowRunProjection) -> RunRow:
    return RunRow(
        row.run_id,
        row.workflow_id,
        row.workflow_type,
        row.status,
        row.error_code,
        row.result_json,
        row.started_at,
        row.ended_at,
    )


def list_stage_candidates(
    stage: StageName,
    *,
    job_ids: Sequence[UUID] | None = None,
    execution_ref: ExecutionRef | None = None,
    owner_run_id: str = "",
    limit: int = 0,
) -> list[UUID]:
    """Ids of the jobs to try in a stage, oldest row first; all of them where ``limit`` is 0.

    Chosen ``job_ids`` are all returned: each then ends with its own typed outcome. Otherwise the
    rows of the canonical eligibility predicate: claimable, or left running by ``owner_run_id``
    itself, with a finished prerequisite; within the execution where one is given.
    """
    if job_ids is not None:
        return list(dict.fromkeys(job_ids))
    if stage is StageName.PDF:
        return _list_pdf_candidates(limit)
    claimable = Q(state__in=CLAIMABLE) & ~Q(state=StageState.FAILED, retryable=False)
    own = Q(state=StageState.RUNNING, owner_run_id=owner_run_id) if owner_run_id else Q(pk__in=[])
    rows = JobStageState.objects.filter(claimable | own, tenant_id=settings.TENANT_ID, stage=stage)
    if (before := STAGE_AFTER[stage]) is not None:
        finished = JobStageState.objects.filter(job_id=OuterRef("job_id"), stage=before, state=StageState.SUCCEEDED)
        rows = rows.filter(Exists(finished))
    if execution_ref is not None:
        members = DiscoveryExecutionJob.objects.filter(run_id=execution_ref.run_id).values("job_id")
        rows = rows.filter(job_id__in=members)
    return list(rows.order_by("id").values_list("job_id", flat=True)[: limit or None])


def _list_pdf_candidates(limit: int) -> list[UUID]:
    """Pdf rows exist only once claimed, so its candidates are the finished covers without a finished pdf."""
    done = JobStageState.objects.filter(stage=StageName.PDF, state=StageState.SUCCEEDED).values("job_id")
    rows = JobStageState.objects.filter(
        tenant_id=settings.TENANT_ID, stage=StageName.COVER, state=StageState.SUCCEEDED
    ).exclude(job_id__in=done)
    return list(rows.order_by("id").values_list("job_id", flat=True)[: limit or None])


def find_stage_state(job_id: UUID, stage: StageName) -> str | None:
    return JobStageState.objects.filter(job_id=job_id, stage=stage).values_list("state", flat=True).first()


def count_stage_states(execution_ref: ExecutionRef | None = None) -> dict[str, dict[str, int]]:
    """Rows by stage and state; one index scan over the stage rows."""
    rows = JobStageState.objects.all()
    if execution_ref is not None:
        rows = rows.filter(
            job_id__in=DiscoveryExecutionJob.objects.filter(run_id=execution_ref.run_id).values("job_id")
        )
    counts: dict[str, dict[str, int]] = {}
    for row in rows.values("stage", "state").annotate(n=Count("id")).order_by():
        counts.setdefault(row["stage"], {})[row["state"]] = row["n"]
    return counts


def find_content_event_id(job_id: UUID) -> int:
    """The last event that changed what the job says: part of its preparation's idempotency key."""
    return (
        JobEventRow.objects.filter(job_id=job_id, event_type__in=CONTENT_EVENTS)
        .order_by("-id")
        .values_list("id", flat=True)
        .first()
        or 0
    )


def list_memberships(ref: ExecutionRef, *, plan_state: WorkPlan | None = None) -> list[UUID]:
    rows = DiscoveryExecutionJob.objects.filter(run_id=ref.run_id)
    if plan_state is not None:
        rows = rows.filter(plan_state=plan_state)
    return list(rows.order_by("id").values_list("job_id", flat=True))


def count_plans(ref: ExecutionRef) -> dict[str, int]:
    rows = DiscoveryExecutionJob.objects.filter(run_id=ref.run_id).values("plan_state").annotate(n=Count("id"))
    return {row["plan_state"]: row["n"] for row in rows.order_by()}


def list_preparations(ref: ExecutionRef) -> list[str]:
    """Workflow IDs of the preparations planned by an execution."""
    return list(
        DiscoveryExecutionJob.objects.filter(run_id=ref.run_id, plan_state=WorkPlan.PLANNED)
        .order_by("id")
        .values_list("preparation_workflow_id", flat=True)
    )


OPEN_STATES = ("starting", "in_progress")


def list_open_runs_of_job(job_id: UUID) -> list[RunRow]:
    rows = WorkflowRunProjection.objects.filter(job_id=job_id, status__in=OPEN_STATES).order_by("run_id")
    return [_to_run(row) for row in rows[:20]]


def count_open_runs(workflow_ids: Sequence[str]) -> int:
    """How many of these workflows have a run that has not ended."""
    return WorkflowRunProjection.objects.filter(workflow_id__in=workflow_ids, status__in=OPEN_STATES).count()


def list_top_jobs(limit: int = 10) -> list[dict[str, Any]]:
    """The best scored visible jobs, straight from the default list's index."""
    rows = JobListProjection.objects.filter(deleted=False, hidden=False, fit_score__isnull=False)
    fields = ("job_id", "title", "company", "location", "fit_score", "has_documents", "stages_json")
    ordered = rows.order_by("-sort_score", "-discovered_at", "-job_id")
    return list(ordered.values(*fields)[:limit])


def find_first_event_time(event_type: str) -> datetime | None:
    """When the first event of a type was recorded; one index lookup."""
    return (
        JobEventRow.objects.filter(event_type=event_type).order_by("id").values_list("recorded_at", flat=True).first()
    )


def count_without_pdf(ref: ExecutionRef) -> int:
    """Members planned up to their documents that neither have them nor were held back by the operator's policy."""
    planned = [
        row.job_id
        for row in DiscoveryExecutionJob.objects.filter(run_id=ref.run_id, plan_state=WorkPlan.PLANNED)
        if StageName.PDF in row.required_steps
    ]
    rows = JobStageState.objects.filter(job_id__in=planned)
    ready = set(rows.filter(stage=StageName.PDF, state=StageState.SUCCEEDED).values_list("job_id", flat=True))
    held = set(rows.filter(stage=StageName.TAILOR, state=StageState.SKIPPED).values_list("job_id", flat=True))
    return len(set(planned) - ready - held)


def find_job(job_id: UUID) -> JobListProjection | None:
    """A job's list row with its detail row as ``detail``; two index lookups."""
    row: Any = JobListProjection.objects.filter(job_id=job_id).first()
    if row is not None:
        row.detail = JobDetailProjection.objects.filter(job_id=job_id).first() or JobDetailProjection(job_id=job_id)
    return row  # type: ignore[no-any-return]


def list_unknown_jobs(job_ids: Sequence[UUID]) -> list[UUID]:
    known = set(JobListProjection.objects.filter(job_id__in=job_ids).values_list("job_id", flat=True))
    return [job_id for job_id in job_ids if job_id not in known]


def find_run_row(run_id: str) -> WorkflowRunProjection | None:
    return WorkflowRunProjection.objects.filter(run_id=run_id).first()


def map_job_titles(job_ids: Sequence[UUID]) -> dict[UUID | None, str]:
    """Titles of a page's jobs; one index lookup."""
    rows = JobListProjection.objects.filter(job_id__in=set(job_ids)).values_list("job_id", "title")
    return dict(rows)


def find_event(event_id: int) -> JobEventRow | None:
    return JobEventRow.objects.filter(id=event_id).first()


def list_step_rows(ref: ExecutionRef, *, limit: int = 200) -> list[PipelineStepProjection]:
    """An execution's orchestration steps; its PDF renders, one a job, come last and are cut first."""
    rows = PipelineStepProjection.objects.filter(run_id=ref.run_id)
    steps = list(rows.exclude(kind=StepKind.PDF_RENDER).order_by("started_at")[:limit])
    return [*steps, *rows.filter(kind=StepKind.PDF_RENDER).order_by("started_at")[: limit - len(steps)]]


def find_temporal_url(workflow_id: str, run_id: str) -> str:
    """The run's history in Temporal's own pages, where ``TEMPORAL_UI_URL`` says where these are; else ""."""
    if not settings.TEMPORAL_UI_URL:
        return ""
    namespace = quote(settings.TEMPORAL_NAMESPACE, safe="")
    workflow = quote(workflow_id, safe="")
    return f"{settings.TEMPORAL_UI_URL.rstrip('/')}/namespaces/{namespace}/workflows/{workflow}/{run_id}/history"


def find_timeline(job_id: UUID) -> dict[str, Any]:
    """A job's stages with attempts and reasons, from its detail row; empty where it has none."""
    return JobDetailProjection.objects.filter(job_id=job_id).values_list("stages_json", flat=True).first() or {}


def list_jobs_scored_between(low: int, high: int) -> list[tuple[UUID, int]]:
    """(job id, score) of every job with a score in the range, hidden and deleted ones too."""
    rows = JobListProjection.objects.filter(sort_score__gte=low, sort_score__lte=high)
    return list(rows.order_by("job_id").values_list("job_id", "sort_score"))


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that our records call open, or whose end is only assumed; ``episode`` counts how often it was."""

    run_id: str
    workflow_id: str
    workflow_type: str
    provisional: bool
    episode: int


def list_unsettled_runs(*, limit: int) -> list[OpenRun]:
    """Open runs and provisionally ended ones, oldest first; two index ranges that end with the work."""
    rows = WorkflowRunProjection.objects.filter(Q(status__in=OPEN_STATES) | Q(provisional=True))
    return [
        OpenRun(row.run_id, row.workflow_id, row.workflow_type, row.provisional, row.provisional_ends)
        for row in rows.order_by("first_seen_at", "run_id")[:limit]
    ]
