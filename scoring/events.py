"""Event types that scoring emits."""

from datetime import datetime
from uuid import UUID

from operations.eventlog import JobEvent, event


@event("EmployerAnalyzed")
class EmployerAnalyzed(JobEvent):
    """A posting's requirements were extracted; counts only, never its text."""

    job_id: UUID
    version: int
    engine: str
    requirements: int
    warnings: tuple[str, ...]


@event("JobScored")
class JobScored(JobEvent):
    """``summary`` holds counts by verdict, never sentences of the posting or the profile."""

    job_id: UUID
    fit_score: int  # 1..10
    version: int
    band: str
    blocked: bool
    summary: dict[str, int]
    profile_version: int
    scored_at: datetime
