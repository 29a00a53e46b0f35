from django.db import models

from operations.tenancy import TenantModel


class SourceRegistryEntry(TenantModel):
    """Canonical. One place where postings come from; ``id`` is "kind:board"."""

    id = models.CharField(max_length=160, primary_key=True)
    kind = models.CharField(max_length=20)
    board = models.CharField(max_length=100)
    family = models.CharField(max_length=20)
    base_url = models.CharField(max_length=400, default="", blank=True)
    label = models.CharField(max_length=120, default="", blank=True)
    enabled = models.BooleanField(default=True)
    state = models.CharField(max_length=20, default="new")
    error_code = models.CharField(max_length=80, default="", blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "source_registry_entries"
        verbose_name_plural = "source registry entries"

    def __str__(self) -> str:
        return self.label or self.id


class DiscoveryRun(TenantModel):
    """Canonical. One DiscoverWorkflow execution, with the progress payload of its spine."""

    run_id = models.CharField(max_length=80, primary_key=True)
    workflow_id = models.CharField(max_length=200)
    status = models.CharField(max_length=20, default="in_progress")
    error_code = models.CharField(max_length=80, default="", blank=True)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "discovery_runs"

    def __str__(self) -> str:
        return f"{self.run_id}: {self.status}"


class DiscoveryRunSource(TenantModel):
    """Canonical. How one source ended within one run; a family's retry works on what has not succeeded."""

    run_id = models.CharField(max_length=80)
    source_id = models.CharField(max_length=160)
    family = models.CharField(max_length=20)
    state = models.CharField(max_length=20, default="pending")
    error_code = models.CharField(max_length=80, default="", blank=True)
    retryable = models.BooleanField(default=True)
    counts = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "discovery_run_sources"
        constraints = [models.UniqueConstraint(fields=["run_id", "source_id"], name="one_result_per_run_and_source")]

    def __str__(self) -> str:
        return f"{self.source_id} in {self.run_id}: {self.state}"
