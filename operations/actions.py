"""The engine's own job actions, from running a stage to canceling it; and the last of the first steps."""

from uuid import UUID

from operations import queries
from operations.contracts import STAGE_AFTER, StageName
from operations.errors import WorkerUnavailable
from operations.first_steps import first_step
from operations.job_actions import ActionRefused, ActionRequest, ActionResult, job_action
from operations.listing.runs import RunFilter, list_runs
from operations.services.cancellation import ASKED, NotCancelable, cancel_runs, revoke_stages
from operations.services.releasing import release_stages
from operations.services.retrying import retry_stages
from operations.services.stages import list_unfit_jobs, reset_stages
from operations.services.starts import describe_asked, find_receipt
from operations.starters import StartOrder, choose_profile_version, start_stage


def read_stage(request: ActionRequest) -> StageName:
    """The per-job stage named in the request; raises ``ActionRefused`` naming the field and the choices."""
    value = request.options.get("stage", "")
    if value not in STAGE_AFTER or value == StageName.APPLY:
        known = ", ".join(stage for stage in STAGE_AFTER if stage is not StageName.APPLY)
        raise ActionRefused(f"stage: {value!r} is not a stage that can be run; use one of {known}", code="bad_stage")
    return StageName(value)


@job_action("run-stage", label="Run stage", needs_stage=True)
def run_stage(request: ActionRequest) -> ActionResult:
    stage = read_stage(request)
    asked = describe_asked(stage, request.job_ids, action="run-stage")
    if (known := find_receipt(request.idempotency_key, asked=asked)) is not None:
        return ActionResult(request.job_ids, started=known)
    refused = list_unfit_jobs(stage, request.job_ids)
    fit = [job_id for job_id in request.job_ids if job_id not in refused]
    if not fit:
        return ActionResult((), refused)
    started = start_stage(StartOrder(stage, fit, idempotency_key=request.idempotency_key, asked=asked))
    return ActionResult(fit, refused, started)


@job_action("reset-stage", label="Reset stage", needs_stage=True, consequence="Accepted documents and scores are kept.")
def reset_stage(request: ActionRequest) -> ActionResult:
    """A local change of the rows: it cancels nothing and starts nothing."""
    report = reset_stages(read_stage(request), request.job_ids)
    return ActionResult(report.reset, report.refused)


@job_action(
    "revoke-stage",
    label="Stop and reset stage",
    needs_stage=True,
    consequence="The whole run that works on it is asked to stop, with everything else that it does. What is finished "
    "keeps its results.",
)
def revoke_stage(request: ActionRequest) -> ActionResult:
    """Waits for the run's recorded end, for some seconds; starts nothing."""
    report = revoke_stages(read_stage(request), request.job_ids, requester=request.actor)
    return ActionResult(report.reset, report.refused)


@job_action(
    "release-stage",
    label="Release stage",
    needs_stage=True,
    consequence="It goes back to pending and may be done again. Should its run come back, what that still writes is "
    "refused. Accepted documents and scores are kept.",
)
def release_stage(request: ActionRequest) -> ActionResult:
    """Only where the run that holds it cannot be found; starts nothing."""
    report = release_stages(read_stage(request), request.job_ids, actor=request.actor)
    return ActionResult(report.released, report.refused)


@job_action("retry-stage", label="Retry stage", needs_stage=True)
def retry_stage(request: ActionRequest) -> ActionResult:
    """Reset and run. The worker's readiness is asked first: a 503 leaves rows and events as they were."""
    stage = read_stage(request)
    report = retry_stages(
        stage,
        request.job_ids,
        profile_version=choose_profile_version(stage),
        idempotency_key=request.idempotency_key,
    )
    return ActionResult(report.ready, report.refused, report.started)


@job_action("cancel", label="Cancel", consequence="Finished stages keep their results.")
def cancel(request: ActionRequest) -> ActionResult:
    """Ask every open run that works on these jobs alone to stop; one that has ended or is out of reach stops no other.

    Raises ``WorkerUnavailable`` only where Temporal is gone before anything was asked.
    """
    runs = {job_id: queries.list_open_runs_of_job(job_id) for job_id in request.job_ids}
    outcomes = cancel_runs([run.run_id for found in runs.values() for run in found], requester=request.actor)
    refused: dict[UUID, str] = {}
    for job_id, found in runs.items():
        codes = [outcomes[run.run_id] for run in found]
        if WorkerUnavailable.code in codes:
            refused[job_id] = WorkerUnavailable.code
        elif ASKED not in codes:
            refused[job_id] = NotCancelable.code
    return ActionResult([job_id for job_id in runs if job_id not in refused], refused)


@first_step(
    place=30,
    title="Look for jobs",
    text="The first run reads the boards, scores what it finds and writes documents for the best.",
    url_name="operations:start-discovery",
    action="Look for jobs",
)
def has_looked_for_jobs() -> bool:
    return bool(list_runs(RunFilter(workflow_type="DiscoverWorkflow"), limit=1).rows)
