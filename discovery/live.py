"""What discovery's events make stale."""

from collections.abc import Iterable

from operations.eventlog import LoggedEvent
from operations.live_regions import name_job_regions, stale


@stale(
    "JobDiscovered",
    "JobUpdated",
    "JobSourceObserved",
    "JobActiveStateChanged",
    "JobDeleted",
    "JobRestored",
    "JobHidden",
    "JobUnhidden",
    "JobEnriched",
    "EnrichmentFailed",
)
def name_listed_regions(event: LoggedEvent) -> Iterable[str]:
    return name_job_regions(event)


@stale("PostingContentSnapshotCaptured", "ContentDuplicateCandidateDetected")
def name_posting_regions(event: LoggedEvent) -> Iterable[str]:
    """The job's own page, and that of the job it may be a copy of; the list shows neither."""
    yield f"job:{event.job_id}"
    if other := event.payload.get("otherJobId"):
        yield f"job:{other}"


@stale("SourceRegistryEntryCreated", "SourceRegistryEntryUpdated", "SourceStateChanged")
def name_source_regions(event: LoggedEvent) -> Iterable[str]:
    return ("sources", "dashboard", "topbar")


@stale("DiscoveryRunStarted", "DiscoveryRunCompleted", "DiscoveryRunFailed")
def name_discovery_regions(event: LoggedEvent) -> Iterable[str]:
    return (f"run:{event.run_id}", f"run-row:{event.run_id}", "sources", "dashboard")


@stale("ProfileImported", "ProfileUpdated")
def name_profile_regions(event: LoggedEvent) -> Iterable[str]:
    return ("profile", "dashboard", "topbar")
