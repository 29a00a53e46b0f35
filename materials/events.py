"""Event types that materials emits."""

from uuid import UUID

from operations.eventlog import JobEvent, event


@event("ResumeApproved")
class ResumeApproved(JobEvent):
    job_id: UUID
    version: int
    engine: str
    profile_version: int
    score_version: int


@event("BulletProvenanceRecorded")
class BulletProvenanceRecorded(JobEvent):
    """Which profile evidence a resume's lines come from: ids and counts."""

    job_id: UUID
    version: int
    lines: int
    evidence_ids: tuple[str, ...]


@event("ResumeFailed")
class ResumeFailed(JobEvent):
    job_id: UUID
    error_code: str
    retryable: bool


@event("CoverLetterGenerated")
class CoverLetterGenerated(JobEvent):
    job_id: UUID
    version: int
    engine: str
    resume_version: int


@event("PdfRendered")
class PdfRendered(JobEvent):
    """``artifacts`` maps each kind to its artifact id."""

    job_id: UUID
    artifacts: dict[str, str]
    resume_version: int
    letter_version: int
    pages: int
