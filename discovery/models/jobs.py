from uuid import uuid4

from django.db import models

from discovery.contracts import ActiveState, Confidence, ContentTier, PayPeriod, WorkMode
from operations.tenancy import TenantModel


class Job(TenantModel):
    """Canonical. One posting under an opaque immutable id; URLs are locators, never identity.

    Its identity is (kind, board, external_id) as the source gave them.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    kind = models.CharField(max_length=20)
    board = models.CharField(max_length=100)
    external_id = models.CharField(max_length=200)

    title = models.CharField(max_length=300)
    company = models.CharField(max_length=200)
    location = models.CharField(max_length=200, default="", blank=True)
    places = models.JSONField(default=list)
    country = models.CharField(max_length=2, default="", blank=True)
    mode = models.CharField(max_length=10, choices=[(m, m) for m in WorkMode], default=WorkMode.UNKNOWN)
    remote_eligibility = models.CharField(max_length=200, default="", blank=True)
    employment_type = models.CharField(max_length=60, default="", blank=True)
    department = models.CharField(max_length=120, default="", blank=True)
    language = models.CharField(max_length=10, default="", blank=True)
    url = models.CharField(max_length=2000, default="", blank=True)
    apply_url = models.CharField(max_length=2000, default="", blank=True)
    salary_minimum = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    salary_maximum = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    salary_currency = models.CharField(max_length=3, default="", blank=True)
    salary_period = models.CharField(max_length=10, choices=[(p, p) for p in PayPeriod], default=PayPeriod.UNKNOWN)
    salary_note = models.CharField(max_length=120, default="", blank=True)
    source_description = models.TextField(default="", blank=True)
    content_hash = models.CharField(max_length=64)
    title_key = models.CharField(max_length=300, default="", blank=True)
    company_key = models.CharField(max_length=200, default="", blank=True)

    active_state = models.CharField(max_length=10, choices=[(s, s) for s in ActiveState], default=ActiveState.ACTIVE)
    active_evidence = models.CharField(max_length=80, default="", blank=True)
    hidden = models.BooleanField(default=False)
    deleted_at = models.DateTimeField(null=True)

    posted_at = models.DateTimeField(null=True)
    source_updated_at = models.DateTimeField(null=True)
    closes_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        db_table = "jobs"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "kind", "board", "external_id"], name="one_job_per_source_identity"
            )
        ]
        indexes = [models.Index(fields=["company_key", "title_key"], name="jobs_by_company_and_title")]

    def __str__(self) -> str:
        return f"{self.title} at {self.company}"


class JobSourceObservation(TenantModel):
    """Canonical. That one source showed one job: first, last and how often."""

    job_id = models.UUIDField(db_index=True)
    source_id = models.CharField(max_length=160)
    external_id = models.CharField(max_length=200)
    times_seen = models.PositiveIntegerField(default=1)
    last_run_id = models.CharField(max_length=80, default="", blank=True)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    class Meta:
        db_table = "job_source_observations"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "source_id", "external_id"], name="one_observation_per_source_posting"
            )
        ]

    def __str__(self) -> str:
        return f"{self.source_id} saw {self.job_id}"


class PostingContentSnapshot(TenantModel):
    """Canonical, immutable. What a posting said when it was enriched, and how far that is trusted."""

    job_id = models.UUIDField()
    version = models.PositiveIntegerField()
    tier = models.CharField(max_length=20, choices=[(t, t) for t in ContentTier])
    confidence = models.CharField(max_length=10, choices=[(c, c) for c in Confidence])
    active_state = models.CharField(max_length=10, choices=[(s, s) for s in ActiveState])
    evidence = models.CharField(max_length=80, default="", blank=True)
    quarantined = models.BooleanField(default=False)
    description = models.TextField()
    apply_url = models.CharField(max_length=2000, default="", blank=True)
    warnings = models.JSONField(default=list)
    description_hash = models.CharField(max_length=64, default="", blank=True)
    apply_url_key = models.CharField(max_length=64, default="", blank=True)
    captured_at = models.DateTimeField()

    class Meta:
        db_table = "posting_content_snapshots"
        constraints = [models.UniqueConstraint(fields=["job_id", "version"], name="one_snapshot_per_version")]
        indexes = [
            models.Index(fields=["description_hash"], name="snapshots_by_description"),
            models.Index(fields=["apply_url_key"], name="snapshots_by_apply_url"),
        ]

    def __str__(self) -> str:
        return f"snapshot {self.version} of {self.job_id}"


class DuplicateCandidate(TenantModel):
    """Canonical. Two jobs that may be one; proposed to a person, never merged."""

    job_id = models.UUIDField()
    other_job_id = models.UUIDField(db_index=True)
    reason = models.CharField(max_length=40)
    similarity = models.FloatField()
    state = models.CharField(max_length=20, default="proposed")
    detected_at = models.DateTimeField()

    class Meta:
        db_table = "duplicate_candidates"
        constraints = [models.UniqueConstraint(fields=["job_id", "other_job_id"], name="one_candidate_per_pair")]

    def __str__(self) -> str:
        return f"{self.job_id} ~ {self.other_job_id}"
