"""Events as sentences: what happened, in the past tense, from the payload's own ids, codes and counts."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from operations.wording.codes import describe_code
from operations.wording.quantities import count_of, describe_money, describe_seconds
from operations.wording.runs import name_workflow
from operations.wording.stages import STAGE_NAMES
from operations.wording.steps import STEP_NAMES, name_family

Payload = Mapping[str, Any]


def _stage(body: Payload) -> str:
    name = str(body.get("stage", ""))
    return STAGE_NAMES[name].noun if name in STAGE_NAMES else name


def _because(body: Payload) -> str:
    reason = describe_code(str(body.get("errorCode") or body.get("reasonCode") or ""))
    return f": {reason.short}" if reason else ""


def _attempt(body: Payload) -> str:
    return f", attempt {body['attempt']}" if int(body.get("attempt") or 1) > 1 else ""


def _took(body: Payload) -> str:
    return f" in {describe_seconds(body['durationMs'] / 1000)}" if body.get("durationMs") else ""


def _kind(body: Payload) -> str:
    kind = STEP_NAMES.get(str(body.get("kind")), str(body.get("kind")))
    item = str(body.get("itemKey") or "")
    return f"{kind} ({name_family(item)})" if item and body.get("kind") == "source_family" else kind


def _run(body: Payload) -> str:
    return name_workflow(str(body.get("workflowType", "")))


_SENTENCES: Final[dict[str, Callable[[Payload], str]]] = {
    "JobDiscovered": lambda b: f"Found: {b['title']} at {b['company']}",
    "JobUpdated": lambda b: f"The posting changed: {', '.join(b['changed']) or 'details'}",
    "JobSourceObserved": lambda b: f"Seen at {b['sourceId']}; {count_of(b['sightings'], 'source')} so far",
    "JobActiveStateChanged": lambda b: f"The posting is now {b['toState']}",
    "JobDeleted": lambda b: "You deleted this job",
    "JobRestored": lambda b: "You restored this job",
    "JobHidden": lambda b: "You hid this job",
    "JobUnhidden": lambda b: "You showed this job again",
    "PostingContentSnapshotCaptured": lambda b: (
        f"The posting was read: {b['characters']:,} characters, {b['confidence']} confidence"
    ),
    "JobEnriched": lambda b: "The posting's text was accepted" + (", with little trust" if b["quarantined"] else ""),
    "EnrichmentFailed": lambda b: f"The posting could not be read{_because(b)}",
    "ContentDuplicateCandidateDetected": lambda b: "It may be a copy of another job",
    "EmployerAnalyzed": lambda b: f"{count_of(b['requirements'], 'requirement')} found in the posting",
    "JobScored": lambda b: f"Scored {b['fitScore']} of 10",
    "ResumeApproved": lambda b: f"Resume {b['version']} was accepted",
    "ResumeFailed": lambda b: f"No resume was accepted{_because(b)}",
    "BulletProvenanceRecorded": lambda b: f"The source of {count_of(b['lines'], 'line')} of the resume was recorded",
    "CoverLetterGenerated": lambda b: f"Letter {b['version']} was accepted",
    "PdfRendered": lambda b: f"Documents printed: {count_of(b['pages'], 'page')}",
    "StageStarted": lambda b: f"{_stage(b)} started{_attempt(b)}",
    "StageCompleted": lambda b: f"{_stage(b)} done{_took(b)}{_because(b)}",
    "StageFailed": lambda b: f"{_stage(b)} failed{_because(b)}" + (", to be tried again" if b.get("retryable") else ""),
    "StageExhausted": lambda b: f"{_stage(b)} failed too often{_because(b)}",
    "StageBlocked": lambda b: f"{_stage(b)} is held up{_because(b)}",
    "StageSkipped": lambda b: f"{_stage(b)} skipped{_because(b)}",
    "StageCanceled": lambda b: f"{_stage(b)} canceled",
    "StageReset": lambda b: f"{_stage(b)} put back to be done",
    "StageReleased": lambda b: f"{_stage(b)} was taken from a run that cannot be found, by {b['actor']}",
    "StageMarkedStale": lambda b: f"{_stage(b)} is out of date",
    "StageNeedsVerification": lambda b: f"{_stage(b)} waits for your check",
    "PipelineStepQueued": lambda b: f"{_kind(b)} is next",
    "PipelineStepStarted": lambda b: f"{_kind(b)} started{_attempt(b)}",
    "PipelineStepCompleted": lambda b: f"{_kind(b)} done",
    "PipelineStepFailed": lambda b: f"{_kind(b)} failed{_because(b)}",
    "WorkflowStarted": lambda b: f"{_run(b)} {'was asked for' if b['phase'] == 'dispatched' else 'started'}",
    "WorkflowCompleted": lambda b: f"{_run(b)} done",
    "WorkflowFailed": lambda b: f"{_run(b)} failed{_because(b)}",
    "WorkflowCanceled": lambda b: f"{_run(b)} canceled",
    "WorkflowTimedOut": lambda b: f"{_run(b)} ran out of time",
    "WorkflowTerminated": lambda b: f"{_run(b)} was stopped from outside",
    "WorkflowCancellationRequested": lambda b: (
        "Cancellation was asked for" + (f" by {b['requester']}" if b.get("requester") else "")
    ),
    "WorkspaceRestored": lambda b: f"The workspace was restored from the backup of {str(b['madeAt'])[:10]}",
    "LlmUsageObserved": lambda b: (
        f"A model of {b['provider']} was used for {b['lane']}: {b['inputTokens'] + b['outputTokens']:,} tokens, "
        f"{describe_money(Decimal(b['costMicroUsd']) / 1_000_000)}"
    ),
    "ProviderPaused": lambda b: f"{b['provider']} refuses this account, so its work waits",
    "ProviderAskedAgain": lambda b: f"{b['provider']} was asked again, by {b['actor']}",
    "ProviderResumed": lambda b: f"{b['provider']} answers again",
    "SettingsChanged": lambda b: f"Settings changed by {b['actor']}: {', '.join(b['keys'])}",
    "SourceRegistryEntryCreated": lambda b: f"Source {b['sourceId']} was added",
    "SourceRegistryEntryUpdated": lambda b: f"Source {b['sourceId']} was {'enabled' if b['enabled'] else 'disabled'}",
    "SourceStateChanged": lambda b: f"Source {b['sourceId']} {b['toState']}{_because(b)}",
    "DiscoveryRunStarted": lambda b: f"{count_of(b['sources'], 'source')} to look at",
    "DiscoveryRunCompleted": lambda b: "Every source was looked at",
    "DiscoveryRunFailed": lambda b: f"Not every source could be looked at{_because(b)}",
    "ProfileImported": lambda b: f"Profile version {b['version']} was imported",
    "ProfileUpdated": lambda b: f"Profile version {b['version']} was saved",
}


def describe_event(event_type: str, payload: Payload) -> str:
    """One sentence without its full stop. A type without words is named as it is, spaced out; nothing raises."""
    build = _SENTENCES.get(event_type)
    if build is not None:
        try:
            return build(payload)
        except (KeyError, TypeError, ValueError):
            pass
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", event_type).capitalize()
