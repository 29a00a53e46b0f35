"""Reads of the stage rows."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from operations.contracts import STAGE_AFTER, ExecutionRef, StageName, StageReport, StageState
from operations.models import DiscoveryExecutionJob, JobListProjection, JobStageState, WorkflowRunProjection
from operations.queries.runs import OPEN_STATES
from operations.stage_engine.statements import find_stage_row
from operations.stage_engine.states import CLAIMABLE

HELD = (StageState.RUNNING, StageState.QUEUED)
MOST_HELD = 2000
SLICE = 500
MAY_BE_CLAIMED = Q(state__in=CLAIMABLE) & ~Q(state=StageState.FAILED, retryable=False)


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
    itself, of a job that is not deleted, with a finished prerequisite; within the execution where one is given.
    """
    if job_ids is not None:
        return list(dict.fromkeys(job_ids))
    rows = _filter_unprinted() if stage is StageName.PDF else _filter_claimable(stage, owner_run_id)
    if execution_ref is not None:
        members = DiscoveryExecutionJob.objects.filter(run_id=execution_ref.run_id).values("job_id")
        rows = rows.filter(job_id__in=members)
    deleted = JobListProjection.objects.filter(job_id=OuterRef("job_id"), deleted=True)
    rows = rows.filter(~Exists(deleted), tenant_id=settings.TENANT_ID)
    return list(rows.order_by("id").values_list("job_id", flat=True)[: limit or None])


def _filter_claimable(stage: StageName, owner_run_id: str) -> QuerySet[JobStageState]:
    own = Q(state=StageState.RUNNING, owner_run_id=owner_run_id) if owner_run_id else Q(pk__in=[])
    rows = JobStageState.objects.filter(MAY_BE_CLAIMED | own, stage=stage)
    if (before := STAGE_AFTER[stage]) is not None:
        finished = JobStageState.objects.filter(job_id=OuterRef("job_id"), stage=before, state=StageState.SUCCEEDED)
        rows = rows.filter(Exists(finished))
    return rows


def _filter_unprinted() -> QuerySet[JobStageState]:
    """Pdf rows exist only once claimed: its candidates are the finished covers without one, or with a claimable one."""
    settled = JobStageState.objects.filter(~MAY_BE_CLAIMED, job_id=OuterRef("job_id"), stage=StageName.PDF)
    return JobStageState.objects.filter(~Exists(settled), stage=StageName.COVER, state=StageState.SUCCEEDED)


def list_settled_by_run(stage: StageName, run_id: str) -> list[StageReport]:
    """How the jobs ended that a run has worked on in a stage, but for those that it would select again."""
    rows = JobStageState.owned_by(run_id).filter(~MAY_BE_CLAIMED, stage=stage)
    ended = rows.exclude(state=StageState.RUNNING).order_by("id").values_list("job_id", "state", "error_code")
    return [StageReport(str(job_id), stage, state, code) for job_id, state, code in ended]


class HeldBy(NamedTuple):
    """The exact run that a row is held by; ordered by its ids."""

    run_id: str
    workflow_id: str


def list_unwatched_owners() -> list[HeldBy]:
    """Owners of running or queued rows whose run is neither open in our records nor only assumed to have ended.

    Reads the held rows and looks their runs up; nothing where nothing is held.
    """
    rows = JobStageState.objects.filter(tenant_id=settings.TENANT_ID, stage__in=list(StageName), state__in=HELD)
    watched = WorkflowRunProjection.objects.filter(
        Q(status__in=OPEN_STATES) | Q(provisional=True), run_id=OuterRef("owner_run_id")
    )
    rows = rows.exclude(owner_run_id="").filter(~Exists(watched))
    owners = rows.order_by().values_list("owner_run_id", "owner_workflow_id").distinct()
    return [HeldBy(*owner) for owner in owners]


def find_stage_state(job_id: UUID, stage: StageName) -> str | None:
    return JobStageState.objects.filter(job_id=job_id, stage=stage).values_list("state", flat=True).first()


def have_succeeded(stage: StageName, job_ids: Sequence[UUID]) -> bool:
    """Whether the stage is done for all of these jobs; an index look-up for each, in slices."""
    if len(job_ids) == 1:
        row = find_stage_row(job_ids[0], stage)
        return row is not None and row.state == StageState.SUCCEEDED
    done = JobStageState.objects.filter(stage=stage, state=StageState.SUCCEEDED)
    slices = (set(job_ids[start : start + SLICE]) for start in range(0, len(job_ids), SLICE))
    return all(done.filter(job_id__in=wanted).count() == len(wanted) for wanted in slices)


def count_stage_states(ref: ExecutionRef) -> dict[str, dict[str, int]]:
    """An execution's rows by stage and state; as many lookups as it has jobs."""
    members = DiscoveryExecutionJob.objects.filter(run_id=ref.run_id).values("job_id")
    rows = JobStageState.objects.filter(job_id__in=members)
    counts: dict[str, dict[str, int]] = {}
    for row in rows.values("stage", "state").annotate(n=Count("id")).order_by():
        counts.setdefault(row["stage"], {})[row["state"]] = row["n"]
    return counts


def count_failure_codes(ref: ExecutionRef) -> dict[str, int]:
    """Why an execution's rows failed, and how many for each reason, the most frequent first."""
    members = DiscoveryExecutionJob.objects.filter(run_id=ref.run_id).values("job_id")
    failed = JobStageState.objects.filter(job_id__in=members, state__in=(StageState.FAILED, StageState.EXHAUSTED))
    counted = failed.values("error_code").annotate(n=Count("id")).order_by("-n", "error_code")
    return {row["error_code"]: row["n"] for row in counted}


def map_lost_stages(job_ids: Sequence[UUID]) -> dict[UUID, frozenset[str]]:
    """The held stages of a page's jobs whose run has only an assumed end: nobody knows whether they are worked on.

    One statement: a few rows a job, and one look-up of a run for each held one.
    """
    rows = _filter_lost(JobStageState.objects.filter(job_id__in=list(job_ids), state__in=HELD))
    found: dict[UUID, set[str]] = {}
    for job_id, stage in rows.values_list("job_id", "stage"):
        found.setdefault(job_id, set()).add(stage)
    return {job_id: frozenset(stages) for job_id, stages in found.items()}


def count_lost_stages(ref: ExecutionRef | None = None) -> dict[str, int]:
    """How many held rows of each stage are lost so, of an execution's jobs or of all; reads the held rows only, at
    most 2,000 of them."""
    rows = JobStageState.objects.filter(tenant_id=settings.TENANT_ID, stage__in=list(StageName), state__in=HELD)
    rows = _filter_lost(rows)
    if ref is not None:
        member = DiscoveryExecutionJob.objects.filter(
            tenant_id=settings.TENANT_ID, run_id=ref.run_id, job_id=OuterRef("job_id")
        )
        rows = rows.filter(Exists(member))
    return dict(Counter(rows.order_by().values_list("stage", flat=True)[:MOST_HELD]))


def _filter_lost(rows: QuerySet[JobStageState]) -> QuerySet[JobStageState]:
    assumed = WorkflowRunProjection.objects.filter(run_id=OuterRef("owner_run_id"), provisional=True)
    return rows.filter(Exists(assumed))
