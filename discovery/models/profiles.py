from django.db import models

from operations.tenancy import TenantModel


class CandidateProfile(TenantModel):
    """Canonical. One immutable version of the candidate; work that was admitted keeps its version."""

    version = models.PositiveIntegerField()
    document = models.JSONField()
    content_hash = models.CharField(max_length=64)
    imported_at = models.DateTimeField()

    class Meta:
        db_table = "candidate_profiles"
        constraints = [models.UniqueConstraint(fields=["tenant_id", "version"], name="one_profile_per_version")]

    def __str__(self) -> str:
        return f"profile version {self.version}"
