"""What the engine's events make stale."""

from collections.abc import Iterable

from operations.eventlog import LoggedEvent
from operations.live_regions import name_job_regions, name_run_regions, stale


@stale(
    "StageStarted",
    "StageCompleted",
    "StageFailed",
    "StageExhausted",
    "StageBlocked",
    "StageSkipped",
    "StageCanceled",
    "StageReset",
    "StageMarkedStale",
    "StageNeedsVerification",
)
def name_stage_regions(event: LoggedEvent) -> Iterable[str]:
    """The job, and the page of the run whose progress this is: a run's row says nothing of single stages."""
    yield from name_job_regions(event)
    if event.run_id:
        yield f"run:{event.run_id}"
    if event.type in ("StageFailed", "StageExhausted", "StageBlocked", "StageNeedsVerification", "StageReset"):
        yield "topbar"  # how many wait for a person


@stale("PipelineStepQueued", "PipelineStepStarted", "PipelineStepCompleted", "PipelineStepFailed")
def name_step_regions(event: LoggedEvent) -> Iterable[str]:
    return (f"run:{event.run_id}", "dashboard")


@stale(
    "WorkflowStarted",
    "WorkflowCompleted",
    "WorkflowFailed",
    "WorkflowCanceled",
    "WorkflowTimedOut",
    "WorkflowTerminated",
    "WorkflowCancellationRequested",
)
def name_workflow_regions(event: LoggedEvent) -> Iterable[str]:
    yield from name_run_regions(event)
    if event.job_id:
        yield f"job:{event.job_id}"
    if event.payload.get("provisional") or event.payload.get("recovered"):
        yield "jobs-list"  # what the run held is now shown as unknown, or is no longer


@stale("LlmUsageObserved", "ProviderPaused", "ProviderResumed")
def name_spend_regions(event: LoggedEvent) -> Iterable[str]:
    """The spend page, its chip, and where the cost of a run stands; a job's page follows its stages."""
    yield from ("spend", "topbar")
    if event.run_id:
        yield f"run:{event.run_id}"


@stale("SettingsChanged")
def name_settings_regions(event: LoggedEvent) -> Iterable[str]:
    """Thresholds and ceilings show in the top bar and decide what the dashboard asks a person for."""
    return ("settings", "topbar", "dashboard")


@stale("WorkspaceRestored")
def name_restored_regions(event: LoggedEvent) -> Iterable[str]:
    """Nobody looks while it is written; a page that was left open then reads all of it again."""
    return ("topbar", "dashboard", "settings")
