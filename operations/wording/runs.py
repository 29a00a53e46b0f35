"""Workflow runs and their steps in words."""

from typing import Final

from operations.contracts import RunStatus
from operations.wording.codes import describe_code
from operations.wording.tones import Tone, Wording

_WORKFLOWS: Final = {
    "DiscoverWorkflow": "Discovery",
    "ScheduledDiscoverWorkflow": "Scheduled discovery",
    "JobPreparationWorkflow": "Preparation of a job",
    "JobPipelineWorkflow": "One step for chosen jobs",
    "ApplyWorkflow": "Application",
    "JobUrlImportWorkflow": "Import of an address",
    "ManualCaptureImportWorkflow": "Import of a capture",
    "ProfileImportWorkflow": "Import of a profile",
    "ContactResearchWorkflow": "Search for contacts",
    "PostingAvailabilityWorkflow": "Check of a posting",
}

_ENDINGS: Final = {
    RunStatus.SUCCEEDED: ("Done", Tone.GOOD),
    RunStatus.FAILED: ("Failed", Tone.PERSON),
    RunStatus.CANCELED: ("Canceled", Tone.IDLE),
    RunStatus.TERMINATED: ("Stopped from outside", Tone.PERSON),
    RunStatus.TIMED_OUT: ("Ran out of time", Tone.PERSON),
    RunStatus.DRY_RUN_COMPLETE: ("Rehearsed, nothing sent", Tone.GOOD),
    RunStatus.CAPTCHA: ("Stopped at a captcha", Tone.PERSON),
    RunStatus.LOGIN_ISSUE: ("Stopped at a sign-in", Tone.PERSON),
    RunStatus.EXPIRED: ("The posting had closed", Tone.IDLE),
    RunStatus.MANUAL: ("Left to you", Tone.PERSON),
}


def name_workflow(workflow_type: str) -> str:
    """The kind of a run as people call it; a type without a name keeps its own."""
    return _WORKFLOWS.get(workflow_type, workflow_type or "Run")


def describe_run(
    status: str,
    *,
    error_code: str = "",
    reason_code: str = "",
    provisional: bool = False,
    cancel_requested: bool = False,
    is_checked: bool = True,
) -> Wording:
    """How a run stands. A provisional end says that Temporal may still tell otherwise.

    ``is_checked=False``: Temporal cannot be asked, so of an open run nobody can say that it is open still.
    """
    if provisional:
        return Wording("End unknown", Tone.UNKNOWN, "Temporal no longer knows this run, so its end cannot be known.")
    known = RunStatus(status)
    if known in (RunStatus.STARTING, RunStatus.IN_PROGRESS):
        if not is_checked:
            return Wording("Not checked", Tone.UNKNOWN, "It was open when Temporal last answered.")
        if cancel_requested:
            return Wording("Stopping", Tone.WAITING, "It stops at the next safe point; finished work stays.")
        if known is RunStatus.STARTING:
            return Wording("Starting", Tone.WAITING, "It waits for the worker to take it up.")
        return Wording("Running", Tone.RUNNING)
    word, tone = _ENDINGS[known]
    reason = describe_code(error_code) or describe_code(reason_code)
    if reason is None or known is RunStatus.CANCELED:
        return Wording(word, tone)
    return Wording(f"{word}: {reason.short}", tone, reason.remedy)
