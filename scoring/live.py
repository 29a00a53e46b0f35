"""What scoring's events make stale."""

from collections.abc import Iterable

from operations.eventlog import LoggedEvent
from operations.live_regions import name_job_regions, stale


@stale("JobScored")
def name_score_regions(event: LoggedEvent) -> Iterable[str]:
    return name_job_regions(event)


@stale("EmployerAnalyzed")
def name_analysis_regions(event: LoggedEvent) -> Iterable[str]:
    """Requirements show on the job's page; the list waits for the score that follows."""
    return (f"job:{event.job_id}",)
