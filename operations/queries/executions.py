"""Reads of discovery executions: their jobs, plans and steps."""

from uuid import UUID

from django.db.models import Count

from operations.contracts import ExecutionRef, StageName, StageState, StepKind, WorkPlan
from operations.models import DiscoveryExecutionJob, JobStageState, PipelineStepProjection


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


def list_step_rows(ref: ExecutionRef, *, limit: int = 200) -> list[PipelineStepProjection]:
    """An execution's orchestration steps; its PDF renders, one a job, come last and are cut first."""
    rows = PipelineStepProjection.objects.filter(run_id=ref.run_id)
    steps = list(rows.exclude(kind=StepKind.PDF_RENDER).order_by("started_at")[:limit])
    return [*steps, *rows.filter(kind=StepKind.PDF_RENDER).order_by("started_at")[: limit - len(steps)]]


def list_open_steps(ref: ExecutionRef) -> list[tuple[StepKind, str, int]]:
    """(kind, item, attempt) of the orchestration steps without an end; PDF renders belong to their preparations."""
    rows = PipelineStepProjection.objects.filter(run_id=ref.run_id, state__in=("queued", "running"))
    found = rows.exclude(kind=StepKind.PDF_RENDER).order_by("step_key").values_list("kind", "item_key", "attempt")
    return [(StepKind(kind), item_key, attempt) for kind, item_key, attempt in found]
