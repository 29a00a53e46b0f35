from django.db import models

from operations.tenancy import TenantModel
from scoring.contracts import Band


class PostingAnalysis(TenantModel):
    """Canonical. The requirements found in one content snapshot of a posting."""

    job_id = models.UUIDField()
    version = models.PositiveIntegerField()
    snapshot_version = models.PositiveIntegerField()
    engine = models.CharField(max_length=160)
    requirements = models.JSONField()
    warnings = models.JSONField(default=list)
    dropped = models.PositiveSmallIntegerField(default=0)
    analyzed_at = models.DateTimeField()

    class Meta:
        db_table = "employer_analyses"
        verbose_name_plural = "posting analyses"
        constraints = [models.UniqueConstraint(fields=["job_id", "version"], name="one_analysis_per_version")]

    def __str__(self) -> str:
        return f"analysis {self.version} of {self.job_id}"


class JobScore(TenantModel):
    """Canonical. One score with the requirement-fit report it was computed from."""

    job_id = models.UUIDField()
    version = models.PositiveIntegerField()
    value = models.PositiveSmallIntegerField()
    band = models.CharField(max_length=12, choices=[(b, b) for b in Band])
    awarded = models.FloatField()
    possible = models.FloatField()
    blocked = models.BooleanField()
    report = models.JSONField()
    engine = models.CharField(max_length=160)
    profile_version = models.PositiveIntegerField()
    snapshot_version = models.PositiveIntegerField()
    analysis_version = models.PositiveIntegerField()
    scored_at = models.DateTimeField()

    class Meta:
        db_table = "job_scores"
        constraints = [
            models.UniqueConstraint(fields=["job_id", "version"], name="one_score_per_version"),
            models.CheckConstraint(condition=models.Q(value__gte=1, value__lte=10), name="score_is_1_to_10"),
        ]

    def __str__(self) -> str:
        return f"{self.value} for {self.job_id}"
