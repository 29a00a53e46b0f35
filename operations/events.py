"""Event types that the engine emits."""

from datetime import datetime
from uuid import UUID

from operations.eventlog.registry import Event, JobEvent, Payload, event, upcaster

REQUESTER_LIMIT = 200


@event("StageStarted")
class StageStarted(JobEvent):
    job_id: UUID
    stage: str
    attempt: int
    workflow_id: str = ""
    run_id: str = ""


@event("StageCompleted", version=2)
class StageCompleted(JobEvent):
    """``reason_code`` says why a result counts although its run did not end well."""

    job_id: UUID
    stage: str
    attempt: int
    duration_ms: int
    reused: bool = False
    reason_code: str = ""
    workflow_id: str = ""
    run_id: str = ""


@upcaster("StageCompleted", from_version=1)
def add_reason_code(payload: Payload) -> Payload:
    return {**payload, "reasonCode": ""}


@event("StageFailed")
class StageFailed(JobEvent):
    job_id: UUID
    stage: str
    attempt: int
    error_code: str
    message: str = ""
    retryable: bool
    duration_ms: int = 0
    workflow_id: str = ""
    run_id: str = ""


@event("StageExhausted")
class StageExhausted(JobEvent):
    job_id: UUID
    stage: str
    attempt: int
    error_code: str
    message: str = ""
    duration_ms: int = 0
    workflow_id: str = ""
    run_id: str = ""


@event("StageBlocked")
class StageBlocked(JobEvent):
    job_id: UUID
    stage: str
    reason_code: str
    blocked_by: str = ""
    workflow_id: str = ""
    run_id: str = ""


@event("StageSkipped")
class StageSkipped(JobEvent):
    job_id: UUID
    stage: str
    reason_code: str
    workflow_id: str = ""
    run_id: str = ""


@event("StageCanceled")
class StageCanceledEvent(JobEvent):
    job_id: UUID
    stage: str
    reason_code: str
    workflow_id: str = ""
    run_id: str = ""


@event("StageReset")
class StageReset(JobEvent):
    """Every return to ``pending``. ``attempts`` is the count the row keeps."""

    job_id: UUID
    stage: str
    from_state: str
    reason_code: str
    attempts: int
    workflow_id: str = ""
    run_id: str = ""


@event("StageMarkedStale")
class StageMarkedStale(JobEvent):
    job_id: UUID
    stage: str
    reason_code: str


@event("StageNeedsVerification")
class StageNeedsVerification(JobEvent):
    job_id: UUID
    stage: str
    reason_code: str


@event("PipelineStepQueued")
class PipelineStepQueued(Event):
    workflow_id: str
    run_id: str
    kind: str
    item_key: str = ""
    attempt: int = 1


@event("PipelineStepStarted")
class PipelineStepStarted(Event):
    workflow_id: str
    run_id: str
    kind: str
    item_key: str = ""
    attempt: int = 1


@event("PipelineStepCompleted")
class PipelineStepCompleted(Event):
    workflow_id: str
    run_id: str
    kind: str
    item_key: str = ""
    attempt: int = 1
    counts: dict[str, int]


@event("PipelineStepFailed")
class PipelineStepFailed(Event):
    workflow_id: str
    run_id: str
    kind: str
    item_key: str = ""
    attempt: int = 1
    error_code: str
    counts: dict[str, int]


@event("WorkflowStarted")
class WorkflowStarted(Event):
    """``phase`` is ``dispatched`` (by whoever asked for the start) or ``running`` (by the run itself).

    ``recovered`` marks the compensating start that undoes a provisional end.
    """

    workflow_id: str
    run_id: str
    workflow_type: str
    phase: str
    recovered: bool = False
    job_id: UUID | None = None
    summary: dict[str, str]
    previous_run_id: str = ""


@event("WorkflowCompleted")
class WorkflowCompleted(Event):
    workflow_id: str
    run_id: str
    workflow_type: str
    reason_code: str = ""
    next_run_id: str = ""
    result: dict[str, str]


@event("WorkflowFailed")
class WorkflowFailed(Event):
    workflow_id: str
    run_id: str
    workflow_type: str
    error_code: str
    reason_code: str = ""
    result: dict[str, str]


@event("WorkflowCanceled")
class WorkflowCanceled(Event):
    workflow_id: str
    run_id: str
    workflow_type: str
    reason_code: str = ""


@event("WorkflowTimedOut")
class WorkflowTimedOut(Event):
    workflow_id: str
    run_id: str
    workflow_type: str
    reason_code: str = ""
    provisional: bool = False


@event("WorkflowTerminated")
class WorkflowTerminated(Event):
    workflow_id: str
    run_id: str
    workflow_type: str
    reason_code: str = ""
    provisional: bool = False


@event("WorkflowCancellationRequested", version=2)
class WorkflowCancellationRequested(Event):
    """``requester`` is a name of at most ``REQUESTER_LIMIT`` characters, "" where nobody knows who asked."""

    workflow_id: str
    run_id: str
    evidence: str  # request_intent | temporal_history | recovered_temporal_history
    requester: str = ""


@upcaster("WorkflowCancellationRequested", from_version=1)
def add_unknown_requester(payload: Payload) -> Payload:
    """The first version did not say who asked."""
    return {**payload, "requester": ""}


@event("SettingsChanged")
class SettingsChanged(Event):
    keys: tuple[str, ...]
    actor: str


@event("WorkspaceRestored")
class WorkspaceRestored(Event):
    """A backup was put in place. ``made_at`` is when it was taken; ``former_identity`` is "" unless it was moved."""

    made_at: datetime
    last_event_id: int
    files: int
    identity: str
    former_identity: str = ""


@event("LlmUsageObserved")
class LlmUsageObserved(Event):
    """One provider attempt was counted in the ledger. Cost in millionths of a US dollar."""

    lane: str
    provider: str
    input_tokens: int
    output_tokens: int
    cost_micro_usd: int
    workflow_id: str = ""
    run_id: str = ""


@event("ProviderPaused")
class ProviderPausedEvent(Event):
    """A model provider refuses the account; its lanes wait."""

    provider: str
    reason_code: str


@event("ProviderResumed")
class ProviderResumed(Event):
    provider: str
