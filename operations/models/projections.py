"""Projections: dropped and rebuilt from the log at will. Nothing has a foreign key into them."""

from django.db import models
from django.db.models import Q

from operations.models.base import TenantModel


class JobListProjection(TenantModel):
    """Projection. One row a job, as lists show it."""

    job_id = models.UUIDField(primary_key=True)
    title = models.CharField(max_length=300, default="", blank=True)
    company = models.CharField(max_length=200, default="", blank=True)
    location = models.CharField(max_length=200, default="", blank=True)
    work_mode = models.CharField(max_length=20, default="", blank=True)
    salary = models.CharField(max_length=120, default="", blank=True)
    source = models.CharField(max_length=160, default="", blank=True)
    source_count = models.PositiveIntegerField(default=0)
    url = models.CharField(max_length=400, default="", blank=True)
    active_state = models.CharField(max_length=20, default="unknown")
    hidden = models.BooleanField(default=False)
    deleted = models.BooleanField(default=False)

    current_stage = models.CharField(max_length=10, default="discover")
    stages_json = models.JSONField(default=dict)
    retrying_stage = models.CharField(max_length=10, default="", blank=True)  # failed, and tried again by itself
    waiting_stage = models.CharField(max_length=10, default="", blank=True)  # pending, since it has to wait
    waits_for = models.CharField(max_length=20, default="", blank=True)  # for what that is: budget, provider_paused
    waits_since = models.DateTimeField(null=True)
    fit_score = models.PositiveSmallIntegerField(null=True)
    sort_score = models.SmallIntegerField(default=-1)  # -1 = not scored; never NULL, so that lists page by key
    has_documents = models.BooleanField(default=False)

    posted_at = models.DateTimeField(null=True)
    discovered_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "job_list_projections"
        verbose_name = "job (list)"
        indexes = [
            models.Index(
                fields=["-sort_score", "-discovered_at", "-job_id"],
                condition=Q(deleted=False, hidden=False),
                name="default_job_list",
            ),
            models.Index(
                fields=["-discovered_at", "-job_id"],
                condition=Q(deleted=False, hidden=False),
                name="newest_jobs_first",
            ),
            models.Index(
                fields=["source", "-sort_score", "-discovered_at", "-job_id"],
                condition=Q(deleted=False, hidden=False),
                name="jobs_of_a_source",
            ),
            models.Index(fields=["-discovered_at", "-job_id"], condition=Q(deleted=True), name="deleted_jobs"),
            models.Index(
                fields=["-sort_score", "-discovered_at", "-job_id"],
                condition=Q(deleted=True),
                name="deleted_jobs_by_score",
            ),
            models.Index(
                fields=["-sort_score", "-discovered_at", "-job_id"],
                condition=Q(deleted=False, hidden=True),
                name="hidden_jobs_by_score",
            ),
            models.Index(
                fields=["-discovered_at", "-job_id"], condition=Q(deleted=False, hidden=True), name="hidden_jobs"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} at {self.company}"


class JobDetailProjection(TenantModel):
    """Projection. One job's stage timeline with attempts, failures and document references."""

    job_id = models.UUIDField(primary_key=True)
    stages_json = models.JSONField(default=dict)
    score_json = models.JSONField(default=dict)
    documents_json = models.JSONField(default=dict)
    enrichment_json = models.JSONField(default=dict)
    sightings = models.PositiveIntegerField(default=0)
    last_event_id = models.BigIntegerField(default=0)
    updated_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "job_detail_projections"
        verbose_name = "job (detail)"

    def __str__(self) -> str:
        return str(self.job_id)


class WorkflowRunProjection(TenantModel):
    """Projection. One row a Temporal run. The first authoritative end wins."""

    run_id = models.CharField(max_length=80, primary_key=True)
    workflow_id = models.CharField(max_length=200)
    workflow_type = models.CharField(max_length=80, default="", blank=True)
    status = models.CharField(max_length=20, default="starting")
    job_id = models.UUIDField(null=True)
    summary_json = models.JSONField(default=dict)
    result_json = models.JSONField(default=dict)
    error_code = models.CharField(max_length=80, default="", blank=True)
    reason_code = models.CharField(max_length=80, default="", blank=True)
    provisional = models.BooleanField(default=False)
    provisional_ends = models.PositiveSmallIntegerField(default=0)  # how often its end was assumed
    cancel_requested = models.BooleanField(default=False)
    previous_run_id = models.CharField(max_length=80, default="", blank=True)
    next_run_id = models.CharField(max_length=80, default="", blank=True)
    first_seen_at = models.DateTimeField(null=True)  # of its first event, whichever that was: what lists sort by
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    duration_ms = models.BigIntegerField(
        default=-1
    )  # -1 = not known, or not ended; never NULL, so that lists page by key

    class Meta:
        db_table = "workflow_run_projections"
        verbose_name = "workflow run"
        indexes = [
            models.Index(fields=["-first_seen_at", "-run_id"], name="runs_newest_first"),
            models.Index(fields=["workflow_id", "-first_seen_at", "-run_id"], name="runs_of_a_workflow"),
            models.Index(fields=["status", "-first_seen_at", "-run_id"], name="runs_by_status"),
            models.Index(fields=["workflow_type", "-first_seen_at", "-run_id"], name="runs_by_type"),
            models.Index(fields=["-duration_ms", "-run_id"], name="longest_runs"),
            models.Index(fields=["job_id"], condition=Q(job_id__isnull=False), name="runs_of_a_job"),
            models.Index(fields=["first_seen_at", "run_id"], condition=Q(provisional=True), name="assumed_ends"),
        ]

    def __str__(self) -> str:
        return f"{self.workflow_id} ({self.status})"

    @property
    def took_ms(self) -> int | None:
        return self.duration_ms if self.duration_ms >= 0 else None


class PipelineStepProjection(TenantModel):
    """Projection. Orchestration work of one execution, keyed by execution, kind and item."""

    step_key = models.CharField(max_length=300, primary_key=True)
    workflow_id = models.CharField(max_length=200)
    run_id = models.CharField(max_length=80)
    kind = models.CharField(max_length=30, default="", blank=True)
    item_key = models.CharField(max_length=120, default="", blank=True)
    state = models.CharField(max_length=20, default="queued")
    attempt = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=80, default="", blank=True)
    counts_json = models.JSONField(default=dict)
    queued_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "pipeline_step_projections"
        verbose_name = "pipeline step"
        indexes = [models.Index(fields=["run_id", "kind"], name="steps_of_an_execution")]

    def __str__(self) -> str:
        return f"{self.kind} {self.item_key}: {self.state}"
