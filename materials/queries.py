"""Reads of materials: the newest accepted documents and their files."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import UUIDField

from materials.artifact_files import ArtifactFiles
from materials.contracts import LetterDocument, ResumeDocument
from materials.models import Artifact, CoverLetter, TailoredResume
from operations.compiled import CompiledQuery
from operations.documents import load_document
from operations.errors import MissingInput
from operations.listing.paging import read_page

NEWEST = ("created_at", "id")

_RESUME = CompiledQuery(lambda job_id: _list_versions(TailoredResume, job_id), UUIDField())
_RESUME_VERSION = CompiledQuery(lambda job_id: _list_version_numbers(TailoredResume, job_id), UUIDField())
_LETTER = CompiledQuery(lambda job_id: _list_versions(CoverLetter, job_id), UUIDField())
_LETTER_VERSION = CompiledQuery(lambda job_id: _list_version_numbers(CoverLetter, job_id), UUIDField())
_ARTIFACT_VERSION = CompiledQuery(lambda job_id: _list_version_numbers(Artifact, job_id), UUIDField())


def _list_versions(model: type[models.Model], job_id: object) -> "models.QuerySet[Any]":
    return model._default_manager.filter(job_id=job_id).order_by("-version")[:1]


def _list_version_numbers(model: type[models.Model], job_id: object) -> "models.QuerySet[Any, int]":
    return _list_versions(model, job_id).values_list("version", flat=True)


@dataclass(frozen=True, slots=True)
class CurrentResume:
    version: int
    profile_version: int
    document: ResumeDocument


@dataclass(frozen=True, slots=True)
class CurrentLetter:
    version: int
    profile_version: int
    document: LetterDocument


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    """One registered file; ``relative_path`` is below ``JOBCTRL_HOME/artifacts``."""

    id: UUID
    job_id: UUID
    kind: str
    sha256: str
    size: int
    pages: int
    relative_path: str


def get_artifact_files() -> ArtifactFiles:
    return ArtifactFiles(settings.JOBCTRL_HOME.artifacts)


def find_resume_version(job_id: UUID) -> int:
    return _RESUME_VERSION.first(job_id) or 0


def find_letter_version(job_id: UUID) -> int:
    return _LETTER_VERSION.first(job_id) or 0


def find_artifact_version(job_id: UUID) -> int:
    return _ARTIFACT_VERSION.first(job_id) or 0


def get_resume(job_id: UUID) -> CurrentResume:
    found = find_resume(job_id)
    if found is None:
        raise MissingInput("This job has no tailored resume yet; tailor it first.")
    return found


def find_resume(job_id: UUID) -> CurrentResume | None:
    row = _RESUME.first(job_id)
    if row is None:
        return None
    return CurrentResume(row.version, row.profile_version, load_document(ResumeDocument, row.document))


def get_letter(job_id: UUID) -> CurrentLetter:
    found = find_letter(job_id)
    if found is None:
        raise MissingInput("This job has no cover letter yet; write it first.")
    return found


def find_letter(job_id: UUID) -> CurrentLetter | None:
    row = _LETTER.first(job_id)
    if row is None:
        return None
    return CurrentLetter(row.version, row.profile_version, load_document(LetterDocument, row.document))


def filter_registered(hashes: Iterable[str]) -> set[str]:
    """Those of the given hashes that some artifact row names."""
    return set(Artifact.objects.filter(sha256__in=list(hashes)).values_list("sha256", flat=True))


def find_artifact(artifact_id: UUID) -> ArtifactRow | None:
    row = Artifact.objects.filter(id=artifact_id).first()
    return None if row is None else _to_row(row)


def list_artifacts(job_ids: Iterable[UUID]) -> list[ArtifactRow]:
    """Every file of a few jobs, the newest version first."""
    rows = Artifact.objects.filter(job_id__in=list(job_ids)).order_by("-version", "kind")
    return [_to_row(row) for row in rows]


def page_artifacts(job_id: UUID | None = None, *, cursor: str = "", limit: int) -> tuple[list[ArtifactRow], str]:
    """Files of one job or of all, newest first, and the cursor of the next page; one index range.

    Raises ``BadQuery`` for a cursor that is not one of ours.
    """
    rows = Artifact.objects.all() if job_id is None else Artifact.objects.filter(job_id=job_id)
    page = read_page(rows, order=NEWEST, cursor=cursor, limit=limit)
    return [_to_row(row) for row in page.rows], page.next_cursor


def _to_row(row: Artifact) -> ArtifactRow:
    return ArtifactRow(row.id, row.job_id, row.kind, row.sha256, row.size, row.pages, row.relative_path)
