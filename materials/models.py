from uuid import uuid4

from django.db import models

from operations.tenancy import TenantModel


class TailoredResume(TenantModel):
    """Canonical. One accepted resume for one job, every line with its provenance."""

    job_id = models.UUIDField()
    version = models.PositiveIntegerField()
    document = models.JSONField()
    engine = models.CharField(max_length=40)
    profile_version = models.PositiveIntegerField()
    score_version = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "tailored_resumes"
        constraints = [models.UniqueConstraint(fields=["job_id", "version"], name="one_resume_per_version")]

    def __str__(self) -> str:
        return f"resume {self.version} for {self.job_id}"


class CoverLetter(TenantModel):
    """Canonical. One accepted letter for one job, written beside one version of its resume."""

    job_id = models.UUIDField()
    version = models.PositiveIntegerField()
    document = models.JSONField()
    engine = models.CharField(max_length=40)
    profile_version = models.PositiveIntegerField()
    resume_version = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "cover_letters"
        constraints = [models.UniqueConstraint(fields=["job_id", "version"], name="one_letter_per_version")]

    def __str__(self) -> str:
        return f"letter {self.version} for {self.job_id}"


class Artifact(TenantModel):
    """Canonical. A rendered file: content-addressed on disk, registered here with what it was made from."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    job_id = models.UUIDField()
    kind = models.CharField(max_length=20)
    version = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64, db_index=True)
    size = models.PositiveIntegerField()
    pages = models.PositiveSmallIntegerField()
    media_type = models.CharField(max_length=60, default="application/pdf")
    relative_path = models.CharField(max_length=200)
    template = models.CharField(max_length=40)
    resume_version = models.PositiveIntegerField()
    letter_version = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "artifacts"
        constraints = [
            models.UniqueConstraint(fields=["job_id", "kind", "version"], name="one_artifact_per_kind_and_version")
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="newest_artifacts_first"),
            models.Index(fields=["job_id", "-created_at", "-id"], name="newest_artifacts_of_a_job"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.version} of {self.job_id}"
