from django.db import models

from operations.contracts import StageName, StageState
from operations.models.base import TenantModel


class JobStageState(TenantModel):
    """Canonical. Where one job stands in one stage; written by ``operations.stage_engine`` only."""

    job_id = models.UUIDField()
    stage = models.CharField(max_length=10, choices=[(name, name) for name in StageName])

    state = models.CharField(max_length=20, choices=[(s, s) for s in StageState], default=StageState.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    retryable = models.BooleanField(default=True)
    error_code = models.CharField(max_length=80, default="", blank=True)
    error_message = models.CharField(max_length=300, default="", blank=True)
    reason_code = models.CharField(max_length=80, default="", blank=True)
    blocked_by = models.CharField(max_length=10, default="", blank=True)

    owner_workflow_id = models.CharField(max_length=200, default="", blank=True)
    owner_run_id = models.CharField(max_length=80, default="", blank=True)
    owner_attempt = models.PositiveSmallIntegerField(default=0)
    execution_workflow_id = models.CharField(max_length=200, default="", blank=True)  # of the claim's ExecutionRef
    execution_run_id = models.CharField(max_length=80, default="", blank=True)
    lease_epoch = models.PositiveIntegerField(default=0)
    baseline_version = models.PositiveIntegerField(default=0)

    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "job_stage_states"
        verbose_name = "stage state"
        constraints = [models.UniqueConstraint(fields=["job_id", "stage"], name="one_row_per_job_and_stage")]
        indexes = [
            models.Index(fields=["tenant_id", "stage", "state", "job_id"], name="rows_by_stage_and_state"),
            models.Index(fields=["owner_run_id"], condition=~models.Q(owner_run_id=""), name="rows_of_an_owner"),
        ]

    @classmethod
    def owned_by(cls, run_id: str) -> models.QuerySet["JobStageState"]:
        """What a run owns. SQLite takes the index of owners only where its own condition is said as well."""
        return cls.objects.filter(owner_run_id=run_id).exclude(owner_run_id="")

    def __str__(self) -> str:
        return f"{self.stage} of {self.job_id}: {self.state}"


class StageCounter(TenantModel):
    """Canonical. How many stage rows are in each state, kept in the transaction that moves them."""

    stage = models.CharField(max_length=10)
    state = models.CharField(max_length=20)
    rows = models.BigIntegerField(default=0)

    class Meta:
        db_table = "stage_counters"
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "stage", "state"], name="one_counter_per_stage_and_state")
        ]

    def __str__(self) -> str:
        return f"{self.rows} {self.stage} {self.state}"
