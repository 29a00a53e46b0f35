from django.db import models

from operations.contracts import Cohort, WorkPlan
from operations.models.base import TenantModel


class DiscoveryExecutionJob(TenantModel):
    """Canonical. One job's membership in one DiscoverWorkflow execution, and its work plan."""

    workflow_id = models.CharField(max_length=200)
    run_id = models.CharField(max_length=80)
    job_id = models.UUIDField()

    cohort = models.CharField(max_length=20, choices=[(c, c) for c in Cohort])
    plan_state = models.CharField(max_length=20, choices=[(p, p) for p in WorkPlan], default=WorkPlan.PENDING)
    plan_reason = models.CharField(max_length=80, default="", blank=True)
    required_steps = models.JSONField(default=list)
    preparation_workflow_id = models.CharField(max_length=200, default="", blank=True)
    linked_at = models.DateTimeField()
    planned_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "discovery_execution_jobs"
        verbose_name = "execution membership"
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "run_id", "job_id"], name="one_membership_per_execution")
        ]
        indexes = [
            models.Index(fields=["run_id", "plan_state"], name="memberships_by_plan"),
            models.Index(fields=["job_id"], name="memberships_of_a_job"),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} in {self.run_id}"
