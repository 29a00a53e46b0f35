"""The operator's window over materials' tables."""

from typing import Any

from django.contrib import admin

from materials.models import Artifact, CoverLetter, TailoredResume
from operations.admin.tables import TableAdmin
from operations.admin.ways import ID, NUMBER, TEXT, Way, job_way

MATERIALS = "Materials"
WAYS = (job_way(then="version"), Way("id", "id", NUMBER, ("id",)))


@admin.register(TailoredResume)
class ResumeAdmin(TableAdmin):
    group, place = MATERIALS, 10
    ways = WAYS
    list_display = ("id", "job_id", "version", "engine", "profile_version", "score_version", "created_at")


@admin.register(CoverLetter)
class LetterAdmin(TableAdmin):
    group, place = MATERIALS, 20
    ways = WAYS
    list_display = ("id", "job_id", "version", "engine", "profile_version", "resume_version", "created_at")


@admin.register(Artifact)
class ArtifactAdmin(TableAdmin):
    group, place = MATERIALS, 30
    ways = (
        Way("job_id", "job_id", ID, ("kind", "version")),
        Way("id", "id", ID, ("id",), beginnings=("id",)),
        Way("sha256", "sha256", TEXT, ("sha256",)),
    )
    list_display = ("id", "job_id", "kind", "version", "pages", "size", "template", "created_at")

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        """The file itself."""
        return None if obj is None else f"/v1/artifacts/{obj.pk}/content"
