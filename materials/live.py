"""What the events of materials make stale."""

from collections.abc import Iterable

from operations.eventlog import LoggedEvent
from operations.live_regions import name_job_regions, stale


@stale("ResumeApproved", "ResumeFailed", "CoverLetterGenerated", "PdfRendered")
def name_document_regions(event: LoggedEvent) -> Iterable[str]:
    return name_job_regions(event)


@stale("BulletProvenanceRecorded")
def name_provenance_regions(event: LoggedEvent) -> Iterable[str]:
    """Where each line of a resume comes from shows beside the document only."""
    return (f"job:{event.job_id}",)
