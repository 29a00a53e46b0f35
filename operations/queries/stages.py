"""Reads of the stage rows."""

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q

from operations.contracts import STAGE_AFTER, ExecutionRef, StageName, StageState
from operations.models import DiscoveryExecutionJob, JobStageState
from operations.stage_engine.states import CLAIMABLE


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
