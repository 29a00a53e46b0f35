"""Storing documents and registering their files."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from django.conf import settings
from django.utils import timezone

from materials.artifact_files import StoredFile
from materials.contracts import LetterDocument, ResumeDocument
from materials.events import BulletProvenanceRecorded, CoverLetterGenerated, PdfRendered, ResumeApproved
from materials.models import Artifact, CoverLetter, TailoredResume
from materials.queries import find_artifact_version, find_letter_version, find_resume_version
from operations.compiled import CompiledInsert
from operations.database import require_write
from operations.documents import dump_document
from operations.eventlog import append

EVIDENCE_IN_EVENTS = 100

_INSERT_RESUME = CompiledInsert(TailoredResume)
_INSERT_LETTER = CompiledInsert(CoverLetter)


@dataclass(frozen=True, slots=True)
class TailoredDraft:
    document: ResumeDocument
    engine: str
    profile_version: int
    score_version: int


@dataclass(frozen=True, slots=True)
class LetterDraft:
    document: LetterDocument
    engine: str
    profile_version: int
    resume_version: int


@dataclass(frozen=True, slots=True)
class RenderedFile:
    kind: str  # "resume_pdf" | "letter_pdf"
    stored: StoredFile
    pages: int
    template: str


@dataclass(frozen=True, slots=True)
class RenderedSet:
    files: tuple[RenderedFile, ...]
    resume_version: int
    letter_version: int


def save_resume(job_id: UUID, draft: TailoredDraft) -> int:
    """Append an accepted resume with its provenance inside ``writer()``; returns its version."""
    require_write()
    version = find_resume_version(job_id) + 1
    _INSERT_RESUME.run(
        tenant_id=settings.TENANT_ID,
        job_id=job_id,
        version=version,
        document=dump_document(draft.document),
        engine=draft.engine,
        profile_version=draft.profile_version,
        score_version=draft.score_version,
        created_at=timezone.now(),
    )
    append(
        ResumeApproved(
            job_id=job_id,
            version=version,
            engine=draft.engine,
            profile_version=draft.profile_version,
            score_version=draft.score_version,
        )
    )
    lines = [line for entry in (*draft.document.experience, *draft.document.projects) for line in entry.lines]
    evidence = tuple(dict.fromkeys(item for line in lines for item in line.evidence_ids))
    append(
        BulletProvenanceRecorded(
            job_id=job_id, version=version, lines=len(lines), evidence_ids=evidence[:EVIDENCE_IN_EVENTS]
        )
    )
    return version


def save_letter(job_id: UUID, draft: LetterDraft) -> int:
    """Append an accepted letter inside ``writer()``; returns its version."""
    require_write()
    version = find_letter_version(job_id) + 1
    _INSERT_LETTER.run(
        tenant_id=settings.TENANT_ID,
        job_id=job_id,
        version=version,
        document=dump_document(draft.document),
        engine=draft.engine,
        profile_version=draft.profile_version,
        resume_version=draft.resume_version,
        created_at=timezone.now(),
    )
    append(
        CoverLetterGenerated(job_id=job_id, version=version, engine=draft.engine, resume_version=draft.resume_version)
    )
    return version


def register_artifacts(job_id: UUID, rendered: RenderedSet) -> dict[str, str]:
    """Register files already on disk, with their event, inside ``writer()``; returns id by kind."""
    require_write()
    version = find_artifact_version(job_id) + 1
    ids: dict[str, str] = {}
    for file in rendered.files:
        artifact = Artifact.objects.create(
            id=uuid4(),
            tenant_id=settings.TENANT_ID,
            job_id=job_id,
            kind=file.kind,
            version=version,
            sha256=file.stored.sha256,
            size=file.stored.size,
            pages=file.pages,
            relative_path=file.stored.relative_path,
            template=file.template,
            resume_version=rendered.resume_version,
            letter_version=rendered.letter_version,
            created_at=timezone.now(),
        )
        ids[file.kind] = str(artifact.id)
    append(
        PdfRendered(
            job_id=job_id,
            artifacts=ids,
            resume_version=rendered.resume_version,
            letter_version=rendered.letter_version,
            pages=sum(file.pages for file in rendered.files),
        )
    )
    return ids
