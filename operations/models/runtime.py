from django.db import models

from operations.models.base import TenantModel


class WorkerRuntimeHeartbeat(models.Model):
    """Runtime. What a worker says of itself every 15 seconds; never proof of anything durable."""

    worker_id = models.CharField(max_length=80, primary_key=True)
    workspace_identity = models.CharField(max_length=64)
    task_queue = models.CharField(max_length=120)
    process_id = models.PositiveIntegerField()
    slots = models.PositiveSmallIntegerField()
    slots_busy = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    stopped_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "worker_runtime_heartbeats"
        verbose_name = "worker heartbeat"
        indexes = [models.Index(fields=["last_seen_at"], name="heartbeats_by_age")]

    def __str__(self) -> str:
        return f"{self.worker_id} at {self.last_seen_at:%H:%M:%S}"


class PendingActivity(models.Model):
    """Runtime. An activity that a run had not finished when Temporal was last asked; gone when the run ends."""

    run_id = models.CharField(max_length=80)
    activity_type = models.CharField(max_length=80)
    attempt = models.PositiveIntegerField(default=1)
    maximum_attempts = models.PositiveIntegerField(default=0)  # 0 = no limit
    state = models.CharField(max_length=20)
    error_code = models.CharField(max_length=80, default="", blank=True)
    next_attempt_at = models.DateTimeField(null=True)
    observed_at = models.DateTimeField()

    class Meta:
        db_table = "workflow_pending_activities"
        verbose_name = "pending activity"
        verbose_name_plural = "pending activities"
        indexes = [
            models.Index(fields=["run_id"], name="pending_of_a_run"),
            models.Index(fields=["-observed_at"], name="pending_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.activity_type}, attempt {self.attempt}: {self.state}"


class OperationalAttemptMetric(TenantModel):
    """Canonical, append-only. One attempt at a pipeline boundary, written where it happened."""

    stage = models.CharField(max_length=30)
    source_id = models.CharField(max_length=160, default="", blank=True)
    source_role = models.CharField(max_length=40, default="", blank=True)
    adapter = models.CharField(max_length=40, default="", blank=True)
    attempt_kind = models.CharField(max_length=40)
    attempt = models.PositiveSmallIntegerField(default=1)
    outcome = models.CharField(max_length=30)
    counts = models.JSONField(default=dict)
    duration_ms = models.PositiveIntegerField(default=0)
    error_class = models.CharField(max_length=80, default="", blank=True)
    error_message = models.CharField(max_length=300, default="", blank=True)
    run_id = models.CharField(max_length=80, default="", blank=True)
    job_id = models.UUIDField(null=True)
    job_url = models.CharField(max_length=400, default="", blank=True)
    recorded_at = models.DateTimeField()

    class Meta:
        db_table = "operational_attempt_metrics"
        verbose_name = "attempt metric"
        indexes = [models.Index(fields=["stage", "recorded_at"], name="metrics_by_stage")]

    def __str__(self) -> str:
        return f"{self.stage}: {self.outcome}"


class StoredSetting(models.Model):
    """Canonical. One changed setting; a key without a row has its declared default."""

    key = models.CharField(max_length=60, primary_key=True)
    value = models.JSONField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "stored_settings"

    def __str__(self) -> str:
        return self.key


class Workspace(models.Model):
    """Canonical. This workspace's identity, fixed at the first start; one row."""

    identity = models.CharField(max_length=64, primary_key=True)
    task_queue = models.CharField(max_length=120)
    database = models.CharField(max_length=400)
    home = models.CharField(max_length=400)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "workspaces"

    def __str__(self) -> str:
        return self.task_queue
