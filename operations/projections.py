"""The core projections: job list, job detail, workflow runs and pipeline steps.

Events of other apps are named by their registered strings, with the payload fields that are read;
a test holds those against the registry.
"""

from datetime import datetime, timedelta
from typing import Any

from operations.contracts import ENROLLED_STAGES, WAITED_FOR, StageName, StageState
from operations.eventlog.registry import LoggedEvent
from operations.folding import fold, project
from operations.models import JobDetailProjection, JobListProjection, PipelineStepProjection, WorkflowRunProjection

Row = Any


def _job_key(event: LoggedEvent) -> object:
    return event.job_id


job_list = project(JobListProjection, key_of=_job_key)
job_detail = project(JobDetailProjection, key_of=_job_key)
workflow_runs = project(WorkflowRunProjection, key_of=lambda event: event.run_id or None)
pipeline_steps = project(
    PipelineStepProjection,
    key_of=lambda event: f"{event.run_id}:{event.payload['kind']}:{event.payload['itemKey']}"[:300],
)


def _time(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


# --- job list ----------------------------------------------------------------------------------

_JOB_FIELDS = ("title", "company", "location", "workMode", "salary", "url", "postedAt")


def _copy_job(row: Row, event: LoggedEvent) -> None:
    body = event.payload
    row.title, row.company, row.location = body["title"], body["company"], body["location"]
    row.work_mode, row.salary, row.url = body["workMode"], body["salary"], body["url"]
    row.posted_at = _time(body["postedAt"])
    row.updated_at = event.recorded_at


@fold(job_list, "JobDiscovered", reads=(*_JOB_FIELDS, "source"))
def _add_job(row: Row, event: LoggedEvent) -> None:
    _copy_job(row, event)
    row.source = event.payload["source"]
    row.discovered_at = event.recorded_at
    row.active_state = "active"
    row.stages_json = dict.fromkeys(ENROLLED_STAGES, StageState.PENDING.value)


@fold(job_list, "JobUpdated", reads=_JOB_FIELDS)
def _update_job(row: Row, event: LoggedEvent) -> None:
    _copy_job(row, event)


@fold(job_list, "JobSourceObserved", reads=("sightings",))
def _count_sources(row: Row, event: LoggedEvent) -> None:
    row.source_count = event.payload["sightings"]


@fold(job_list, "JobActiveStateChanged", reads=("toState",))
def _set_active_state(row: Row, event: LoggedEvent) -> None:
    row.active_state = event.payload["toState"]
    row.updated_at = event.recorded_at


@fold(job_list, "JobHidden", "JobUnhidden")
def _set_hidden(row: Row, event: LoggedEvent) -> None:
    row.hidden = event.type == "JobHidden"
    row.updated_at = event.recorded_at


@fold(job_list, "JobDeleted", "JobRestored")
def _set_deleted(row: Row, event: LoggedEvent) -> None:
    row.deleted = event.type == "JobDeleted"
    row.updated_at = event.recorded_at


@fold(job_list, "JobScored", "ScoreCorrected", reads=("fitScore",))
def _set_score(row: Row, event: LoggedEvent) -> None:
    row.fit_score = row.sort_score = event.payload["fitScore"]
    row.updated_at = event.recorded_at


@fold(job_list, "PdfRendered")
def _mark_documents(row: Row, event: LoggedEvent) -> None:
    row.has_documents = True
    row.updated_at = event.recorded_at


_STATE_OF = {
    "StageStarted": StageState.RUNNING,
    "StageCompleted": StageState.SUCCEEDED,
    "StageFailed": StageState.FAILED,
    "StageExhausted": StageState.EXHAUSTED,
    "StageBlocked": StageState.BLOCKED,
    "StageSkipped": StageState.SKIPPED,
    "StageCanceled": StageState.CANCELED,
    "StageReset": StageState.PENDING,
    "StageMarkedStale": StageState.STALE,
    "StageNeedsVerification": StageState.NEEDS_VERIFICATION,
}


@fold(job_list, *_STATE_OF, reads=("stage",))
def _set_stage(row: Row, event: LoggedEvent) -> None:
    stages, stage = row.stages_json, event.payload["stage"]
    stages[stage] = _STATE_OF[event.type].value
    if event.payload.get("retryable"):
        row.retrying_stage = stage
    elif row.retrying_stage == stage:
        row.retrying_stage = ""
    waits_for = event.payload.get("reasonCode") if event.type == "StageReset" else ""
    if waits_for in WAITED_FOR:
        row.waiting_stage, row.waits_for, row.waits_since = stage, waits_for, event.recorded_at
    elif row.waiting_stage == stage:
        row.waiting_stage, row.waits_for, row.waits_since = "", "", None
    cover, apply = stages.get(StageName.COVER), stages.get(StageName.APPLY)
    ready = cover == StageState.SUCCEEDED and apply != StageState.SKIPPED
    row.current_stage = StageName.APPLY.value if ready else StageName.DISCOVER.value
    row.updated_at = event.recorded_at


# --- job detail --------------------------------------------------------------------------------


@fold(job_detail, "JobDiscovered")
def _open_detail(row: Row, event: LoggedEvent) -> None:
    row.stages_json = {stage.value: {"state": StageState.PENDING.value} for stage in ENROLLED_STAGES}
    _touch(row, event)


@fold(job_detail, "JobSourceObserved", reads=("sightings",))
def _count_sightings(row: Row, event: LoggedEvent) -> None:
    row.sightings = event.payload["sightings"]
    _touch(row, event)


_STAGE_KEPT = ("attempt", "errorCode", "message", "retryable", "reasonCode", "blockedBy", "durationMs", "runId")


@fold(job_detail, *_STATE_OF, reads=("stage",))
def _set_stage_detail(row: Row, event: LoggedEvent) -> None:
    body = event.payload
    entry: dict[str, Any] = {"state": _STATE_OF[event.type].value, "at": event.recorded_at.isoformat()}
    for name in _STAGE_KEPT:
        if body.get(name) not in (None, ""):
            entry[name] = body[name]
    row.stages_json[body["stage"]] = entry
    _touch(row, event)


@fold(job_detail, "JobScored", reads=("fitScore", "version", "band", "summary"))
def _set_score_detail(row: Row, event: LoggedEvent) -> None:
    row.score_json = {name: event.payload[name] for name in ("fitScore", "version", "band", "summary")}
    _touch(row, event)


@fold(job_detail, "JobEnriched", reads=("tier", "confidence", "snapshotVersion", "quarantined"))
def _set_enrichment(row: Row, event: LoggedEvent) -> None:
    row.enrichment_json = {
        name: event.payload[name] for name in ("tier", "confidence", "snapshotVersion", "quarantined")
    }
    _touch(row, event)


@fold(job_detail, "ResumeApproved", reads=("version",))
def _set_resume(row: Row, event: LoggedEvent) -> None:
    row.documents_json = {**row.documents_json, "resumeVersion": event.payload["version"]}
    _touch(row, event)


@fold(job_detail, "CoverLetterGenerated", reads=("version",))
def _set_letter(row: Row, event: LoggedEvent) -> None:
    row.documents_json = {**row.documents_json, "letterVersion": event.payload["version"]}
    _touch(row, event)


@fold(job_detail, "PdfRendered", reads=("artifacts",))
def _set_artifacts(row: Row, event: LoggedEvent) -> None:
    row.documents_json = {**row.documents_json, "artifacts": event.payload["artifacts"]}
    _touch(row, event)


def _touch(row: Row, event: LoggedEvent) -> None:
    row.last_event_id = event.id
    row.updated_at = event.recorded_at


# --- workflow runs -----------------------------------------------------------------------------

_TERMINAL = {
    "WorkflowCompleted": "succeeded",
    "WorkflowFailed": "failed",
    "WorkflowCanceled": "canceled",
    "WorkflowTimedOut": "timed_out",
    "WorkflowTerminated": "terminated",
}


@fold(
    workflow_runs,
    "WorkflowStarted",
    reads=("workflowId", "workflowType", "phase", "jobId", "summary", "previousRunId"),
)
def _start_run(row: Row, event: LoggedEvent) -> None:
    body = event.payload
    row.workflow_id, row.workflow_type = body["workflowId"], body["workflowType"]
    row.job_id = event.job_id or row.job_id
    row.summary_json = {**row.summary_json, **body["summary"]}
    row.previous_run_id = body["previousRunId"] or row.previous_run_id
    row.first_seen_at = row.first_seen_at or event.recorded_at
    if row.started_at is None:
        row.started_at = event.recorded_at
    if body.get("recovered") and row.provisional:
        row.ended_at, row.provisional, row.reason_code, row.error_code = None, False, "", ""
    if row.ended_at is None and body["phase"] == "running":
        row.status = "in_progress"
    _measure_run(row)


@fold(workflow_runs, *_TERMINAL, reads=("workflowId", "workflowType"))
def _end_run(row: Row, event: LoggedEvent) -> None:
    """The first authoritative end wins; a provisional one is superseded by a real one."""
    body = event.payload
    if row.ended_at is not None and not row.provisional:
        return
    row.workflow_id, row.workflow_type = body["workflowId"], body["workflowType"]
    row.status = _TERMINAL[event.type]
    row.provisional = bool(body.get("provisional"))
    row.provisional_ends += row.provisional
    row.error_code = body.get("errorCode") or ""
    row.reason_code = body.get("reasonCode") or ""
    row.next_run_id = body.get("nextRunId") or ""
    row.result_json = body.get("result") or {}
    row.ended_at = event.recorded_at
    row.first_seen_at = row.first_seen_at or event.recorded_at
    _measure_run(row)


def _measure_run(row: Row) -> None:
    """Of a real end only: an assumed one says nothing of how long the run took."""
    known = row.started_at is not None and row.ended_at is not None and not row.provisional
    row.duration_ms = max((row.ended_at - row.started_at) // timedelta(milliseconds=1), 0) if known else -1


@fold(workflow_runs, "WorkflowCancellationRequested", reads=("workflowId",))
def _mark_cancel_requested(row: Row, event: LoggedEvent) -> None:
    row.workflow_id = row.workflow_id or event.payload["workflowId"]
    row.cancel_requested = True
    row.first_seen_at = row.first_seen_at or event.recorded_at


# --- pipeline steps ----------------------------------------------------------------------------

_STEP_STATE = {
    "PipelineStepQueued": "queued",
    "PipelineStepStarted": "running",
    "PipelineStepCompleted": "succeeded",
    "PipelineStepFailed": "failed",
}
_STEP_RANK = {"queued": 0, "running": 1, "succeeded": 2, "failed": 2}


@fold(pipeline_steps, *_STEP_STATE, reads=("workflowId", "runId", "kind", "itemKey", "attempt"))
def _set_step(row: Row, event: LoggedEvent) -> None:
    """A higher attempt replaces an older one; within an attempt the first end wins."""
    body = event.payload
    attempt, state = body["attempt"], _STEP_STATE[event.type]
    if row.kind:
        if attempt < row.attempt:
            return
        if attempt == row.attempt and _STEP_RANK[state] <= _STEP_RANK[row.state]:
            return
    if attempt > row.attempt:
        row.error_code, row.counts_json = "", {}
        row.queued_at = row.started_at = row.finished_at = None
    row.workflow_id, row.run_id = body["workflowId"], body["runId"]
    row.kind, row.item_key, row.attempt, row.state = body["kind"], body["itemKey"], attempt, state
    if state == "queued":
        row.queued_at = event.recorded_at
    elif state == "running":
        row.started_at = event.recorded_at
    else:
        row.finished_at = event.recorded_at
        row.error_code = body.get("errorCode") or ""
        row.counts_json = body.get("counts") or {}
