"""Event types that discovery emits."""

from datetime import datetime
from uuid import UUID

from operations.eventlog import Event, JobEvent, event


@event("JobDiscovered")
class JobDiscovered(JobEvent):
    job_id: UUID
    title: str
    company: str
    location: str
    work_mode: str
    salary: str
    source: str
    url: str
    posted_at: datetime | None = None


@event("JobUpdated")
class JobUpdated(JobEvent):
    job_id: UUID
    title: str
    company: str
    location: str
    work_mode: str
    salary: str
    url: str
    posted_at: datetime | None = None
    changed: tuple[str, ...]


@event("JobSourceObserved")
class JobSourceObserved(JobEvent):
    """``sightings`` is how many sources have shown this job so far."""

    job_id: UUID
    source_id: str
    sightings: int
    workflow_id: str = ""
    run_id: str = ""


@event("JobActiveStateChanged")
class JobActiveStateChanged(JobEvent):
    job_id: UUID
    from_state: str
    to_state: str
    evidence: str


@event("JobDeleted")
class JobDeleted(JobEvent):
    job_id: UUID


@event("JobRestored")
class JobRestored(JobEvent):
    job_id: UUID


@event("JobHidden")
class JobHidden(JobEvent):
    job_id: UUID


@event("JobUnhidden")
class JobUnhidden(JobEvent):
    job_id: UUID


@event("SourceRegistryEntryCreated")
class SourceRegistryEntryCreated(Event):
    source_id: str
    kind: str
    family: str


@event("SourceRegistryEntryUpdated")
class SourceRegistryEntryUpdated(Event):
    source_id: str
    enabled: bool


@event("SourceStateChanged")
class SourceStateChanged(Event):
    source_id: str
    from_state: str
    to_state: str
    error_code: str = ""


@event("DiscoveryRunStarted")
class DiscoveryRunStarted(Event):
    workflow_id: str
    run_id: str
    families: tuple[str, ...]
    sources: int


@event("DiscoveryRunCompleted")
class DiscoveryRunCompleted(Event):
    workflow_id: str
    run_id: str
    counts: dict[str, int]


@event("DiscoveryRunFailed")
class DiscoveryRunFailed(Event):
    workflow_id: str
    run_id: str
    error_code: str
    counts: dict[str, int]


@event("PostingContentSnapshotCaptured")
class PostingContentSnapshotCaptured(JobEvent):
    job_id: UUID
    version: int
    tier: str
    confidence: str
    active_state: str
    characters: int


@event("JobEnriched")
class JobEnriched(JobEvent):
    job_id: UUID
    snapshot_version: int
    tier: str
    confidence: str
    quarantined: bool


@event("EnrichmentFailed")
class EnrichmentFailed(JobEvent):
    job_id: UUID
    error_code: str
    retryable: bool


@event("ContentDuplicateCandidateDetected")
class ContentDuplicateCandidateDetected(JobEvent):
    job_id: UUID
    other_job_id: UUID
    reason: str
    similarity: float


@event("ProfileImported")
class ProfileImported(Event):
    """``parts`` counts what the profile holds; nothing of its text is here."""

    version: int
    parts: dict[str, int]


@event("ProfileUpdated")
class ProfileUpdated(Event):
    """An edited version was saved. ``parts`` counts what it holds; nothing of its text is here."""

    version: int
    parts: dict[str, int]
