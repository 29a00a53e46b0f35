"""Execution lineage: which jobs belong to a DiscoverWorkflow execution, and what is planned for them."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.utils import timezone

from operations.contracts import Cohort, ExecutionRef, WorkPlan
from operations.database import writer
from operations.models import DiscoveryExecutionJob


def link_jobs(ref: ExecutionRef, job_ids: Iterable[UUID], *, cohort: Cohort) -> None:
    """Make jobs members of an execution; repeating it changes nothing.

    A later observation promotes a swept member to ``observed_this_run``; nothing demotes one.
    """
    now = timezone.now()
    wanted = list(dict.fromkeys(job_ids))
    with writer():
        DiscoveryExecutionJob.objects.bulk_create(
            [
                DiscoveryExecutionJob(
                    tenant_id=ref.tenant_id,
                    workflow_id=ref.workflow_id,
                    run_id=ref.run_id,
                    job_id=job_id,
                    cohort=cohort,
                    linked_at=now,
                )
                for job_id in wanted
            ],
            ignore_conflicts=True,
            batch_size=500,
        )
        if cohort is Cohort.OBSERVED_THIS_RUN:
            DiscoveryExecutionJob.objects.filter(
                run_id=ref.run_id, job_id__in=wanted, cohort=Cohort.EXISTING_BACKLOG
            ).update(cohort=cohort)


def plan_job(ref: ExecutionRef, job_id: UUID, *, steps: Sequence[str], preparation_workflow_id: str) -> None:
    """Record the immutable required steps and the preparation's workflow ID, once."""
    _plan(
        ref,
        job_id,
        plan_state=WorkPlan.PLANNED,
        required_steps=list(steps),
        preparation_workflow_id=preparation_workflow_id,
    )


def plan_nothing(ref: ExecutionRef, job_id: UUID, *, reason: str) -> None:
    """Record that a member needs no preparation, with a bounded reason code."""
    _plan(ref, job_id, plan_state=WorkPlan.NOT_ELIGIBLE, plan_reason=reason[:80])


def _plan(ref: ExecutionRef, job_id: UUID, **values: object) -> None:
    with writer():
        DiscoveryExecutionJob.objects.filter(
            run_id=ref.run_id, job_id=job_id, plan_state__in=[WorkPlan.PENDING, WorkPlan.FAILED]
        ).update(planned_at=timezone.now(), **values)
