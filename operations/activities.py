"""The engine's activities. Types are literal and per stage: telemetry may not read arguments."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError

from operations import queries
from operations.batches import Patience, Progress
from operations.contracts import (
    OWNED_BY_OTHER_RUN,
    BatchReport,
    CanceledSelection,
    ErrorCode,
    RecordedEnd,
    RunStatus,
    SpendPreflight,
    StageBatchInput,
    StageJobInput,
    StageName,
    StageReport,
    StageState,
    StepKind,
    WorkflowOutcome,
    WorkflowStart,
)
from operations.ended_runs import find_recorded_end
from operations.errors import WorkspaceMismatch
from operations.llm.authority import check_preflight
from operations.services import runs
from operations.services.cancel_facts import record_workflow_end
from operations.services.steps import recorded_step
from operations.stage_engine import Owner, StageContext, WorkResult, find_stage, work_job
from operations.stage_engine.settling import cancel_selected_rows as cancel_rows
from operations.stage_engine.settling import settle_earlier_attempts
from operations.stopping import is_canceled_by_operator, make_shutdown_error, must_stop, raise_if_stopped, wait_here
from operations.workspace import is_own_identity

FAILURES_IN_REPORT = 25


def check_workspace(identity: str) -> None:
    """Work that was dispatched for another workspace is never adopted."""
    if not is_own_identity(identity):
        raise WorkspaceMismatch


def read_owner() -> Owner:
    info = activity.info()
    return Owner(info.workflow_id or "", info.workflow_run_id or "", info.attempt)


def make_context(given: StageJobInput | StageBatchInput) -> StageContext:
    return StageContext(
        read_owner(),
        given.profile_version,
        given.execution_ref,
        is_cancelled=is_canceled_by_operator,
        must_stop=must_stop,
    )


def run_job(stage: StageName, given: StageJobInput) -> StageReport:
    """One job; a retryable failure raises, so that Temporal's policy times the next attempt.

    So does a stage that another run is working on: a later attempt finds what that run has made.
    """
    check_workspace(given.workspace_identity)
    context = make_context(given)
    settle_earlier_attempts(stage, context.owner, [UUID(given.job_id)])
    result = work_job(UUID(given.job_id), stage, context)
    report = result.report
    if report.state == StageState.CANCELED and is_canceled_by_operator():
        raise CancelledError("canceled before publishing")
    if report.code == ErrorCode.WORKER_SHUTDOWN:
        raise make_shutdown_error()
    if report.code == OWNED_BY_OTHER_RUN:
        raise ApplicationError(f"Another run is working on {stage} of this job.", type=report.code)
    if result.waits:
        raise make_waiting_error(result)
    if report.state in (StageState.FAILED, StageState.EXHAUSTED):
        raise ApplicationError(
            result.message or f"{stage} failed.",
            type=report.code,
            non_retryable=not result.retryable,
            next_retry_delay=result.retry_after,
        )
    return report


def make_waiting_error(result: WorkResult, *counts: dict[str, int]) -> ApplicationError:
    """The budget or the provider has to be waited for: the run ends with that, and no later attempt asks again. A batch
    also says how its jobs ended."""
    return ApplicationError(result.message, *counts, type=result.report.code, non_retryable=True)


def run_batch(stage: StageName, given: StageBatchInput) -> BatchReport:
    """Many jobs; each ends with its own typed outcome and none stops its peers.

    While an attempt is left, retryable failures are tried again by it; the last one reports them. Whatever
    earlier attempts ended counts in the report and towards the limit. A provider that is busy is waited for here as
    long as ``Patience`` has it, and its job tried again after its peers; beyond that, or once the day's money is spent
    or a provider is paused, nothing more is begun. Once a lane is at its own limit, nothing is that would begin with
    it. Of the chosen jobs those that need no work still end as they do then, and all others are left in line.
    """
    check_workspace(given.workspace_identity)
    context = make_context(given)
    settle_earlier_attempts(stage, context.owner, _read_job_ids(given))
    progress = Progress(stage, _list_ended_before(stage, given))
    patience = Patience((activity.info().start_to_close_timeout or timedelta(0)) / 2)
    queue = deque(_select_jobs(stage, given, done=len(progress)))
    while queue:
        raise_if_stopped()
        job_id = queue.popleft()
        hold = progress.find_hold(job_id)
        # Each of those that were not chosen was selected since it needs work.
        if hold is not None and (given.job_ids is None or progress.has_tried(job_id)):
            progress.leave(job_id, hold)
            continue
        result = work_job(job_id, stage, context if hold is None else replace(context, waits_for=hold.report.code))
        if result.report.code == ErrorCode.WORKER_SHUTDOWN:
            raise make_shutdown_error()
        pause = patience.find_pause(result)
        progress.note(result, stops=pause is None and result.retry_after is not None)
        if pause is not None and patience.may_try_again(result):
            queue.append(job_id)
        if pause is not None and queue:
            wait_here(pause)
    return _end_batch(progress)


def _end_batch(progress: Progress) -> BatchReport:
    counts = progress.count_states()
    if progress.is_to_be_repeated and has_attempts_left():
        raise ApplicationError(
            f"{counts[StageState.FAILED]} jobs failed in {progress.stage} and will be tried again.",
            type=ErrorCode.TRANSIENT_NETWORK,
            next_retry_delay=progress.retry_after,
        )
    if progress.wait is not None:
        raise make_waiting_error(progress.wait, dict(counts))
    return BatchReport(progress.stage, dict(counts), tuple(progress.failures[:FAILURES_IN_REPORT]))


def has_attempts_left() -> bool:
    """Whether Temporal would try this activity again."""
    info = activity.info()
    return info.retry_policy is not None and info.attempt < info.retry_policy.maximum_attempts


def _list_ended_before(stage: StageName, given: StageBatchInput) -> list[StageReport]:
    """What earlier attempts of this activity ended; chosen jobs are all visited anew and say so themselves."""
    info = activity.info()
    if given.job_ids is not None or info.attempt == 1:
        return []
    return queries.list_settled_by_run(stage, info.workflow_run_id or "")


def _read_job_ids(given: StageBatchInput) -> list[UUID] | None:
    return None if given.job_ids is None else [UUID(job_id) for job_id in given.job_ids]


def _select_jobs(stage: StageName, given: StageBatchInput, *, done: int) -> list[UUID]:
    if given.limit and done >= given.limit:
        return []
    return queries.list_stage_candidates(
        stage,
        job_ids=_read_job_ids(given),
        execution_ref=given.execution_ref,
        owner_run_id=activity.info().workflow_run_id or "",
        limit=given.limit and given.limit - done,
    )


@activity.defn(name="enrich_jobs", no_thread_cancel_exception=True)
def enrich_jobs(given: StageBatchInput) -> BatchReport:
    """Over a whole execution this is its enrichment pass, a pipeline step of its own."""
    if given.execution_ref is None or given.job_ids is not None:
        return run_batch(StageName.ENRICH, given)
    with recorded_step(given.execution_ref, StepKind.ENRICHMENT_PASS, attempt=activity.info().attempt) as counts:
        report = run_batch(StageName.ENRICH, given)
        counts.update(report.counts)
    return report


@activity.defn(name="score_jobs", no_thread_cancel_exception=True)
def score_jobs(given: StageBatchInput) -> BatchReport:
    return run_batch(StageName.SCORE, given)


@activity.defn(name="tailor_jobs", no_thread_cancel_exception=True)
def tailor_jobs(given: StageBatchInput) -> BatchReport:
    return run_batch(StageName.TAILOR, given)


@activity.defn(name="cover_jobs", no_thread_cancel_exception=True)
def cover_jobs(given: StageBatchInput) -> BatchReport:
    return run_batch(StageName.COVER, given)


@activity.defn(name="score_job", no_thread_cancel_exception=True)
def score_job(given: StageJobInput) -> StageReport:
    return run_job(StageName.SCORE, given)


@activity.defn(name="tailor_job", no_thread_cancel_exception=True)
def tailor_job(given: StageJobInput) -> StageReport:
    return run_job(StageName.TAILOR, given)


@activity.defn(name="cover_job", no_thread_cancel_exception=True)
def cover_job(given: StageJobInput) -> StageReport:
    return run_job(StageName.COVER, given)


@activity.defn(name="pdf_job", no_thread_cancel_exception=True)
def pdf_job(given: StageJobInput) -> StageReport:
    return run_job(StageName.PDF, given)


@activity.defn(name="select_jobs", no_thread_cancel_exception=True)
def select_jobs(stage: str, limit: int) -> list[str]:
    """Ids of the jobs eligible for a stage, for a workflow that works on them one by one."""
    return [str(job_id) for job_id in queries.list_stage_candidates(StageName(stage), limit=limit)]


@activity.defn(name="cancel_selected_rows", no_thread_cancel_exception=True)
def cancel_selected_rows(given: CanceledSelection) -> None:
    """Nothing where the run's end was recorded before its cancellation arrived."""
    ended = find_recorded_end(given.run_id)
    if ended is not None and ended.status != RunStatus.CANCELED:
        return
    owner = Owner(given.workflow_id, given.run_id)
    cancel_rows(owner, StageName(given.stage), [UUID(job_id) for job_id in given.job_ids])


@activity.defn(name="record_workflow_started", no_thread_cancel_exception=True)
def record_workflow_started(start: WorkflowStart) -> None:
    runs.record_started(start)


@activity.defn(name="check_spend_budget", no_thread_cancel_exception=True)
def check_spend_budget(preflight: SpendPreflight) -> None:
    """Fails with ``budget_exceeded`` where today's limits leave nothing for what a run has yet to do."""
    stages = _list_unfinished(preflight)
    lanes = {name: stage.lanes for name in stages if (stage := find_stage(name)) is not None}
    # Many jobs that pass through several stages may be anywhere; otherwise a run begins with its first stage.
    first = stages[0] if stages and (preflight.job_id or len(stages) == 1) else ""
    check_preflight(
        [lane for needed in lanes.values() for lane in needed],
        now=timezone.now(),
        begins_with=lanes.get(first, ()),
    )


def _list_unfinished(preflight: SpendPreflight) -> list[str]:
    """The stages that may still spend: of named jobs those that are not done, for a done one is never done again."""
    job_ids = [UUID(job_id) for job_id in preflight.job_ids or [preflight.job_id] if job_id]
    if not job_ids:
        return list(preflight.stages)
    return [name for name in preflight.stages if not queries.have_succeeded(StageName(name), job_ids)]


@activity.defn(name="record_workflow_outcome", no_thread_cancel_exception=True)
def record_workflow_outcome(outcome: WorkflowOutcome) -> RecordedEnd | None:
    """Answers with the end that counts, which an earlier try of the same workflow task may have recorded."""
    record_workflow_end(outcome)
    return find_recorded_end(outcome.run_id)


ACTIVITIES: list[Callable[..., object]] = [
    enrich_jobs, score_jobs, tailor_jobs, cover_jobs, score_job, tailor_job, cover_job, pdf_job, select_jobs,
    cancel_selected_rows, record_workflow_started, record_workflow_outcome, check_spend_budget,
]  # fmt: skip
