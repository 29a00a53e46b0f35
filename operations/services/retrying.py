"""Retry and run: rows are put back and the run that takes them up is promised in one transaction, then started."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from operations.contracts import StageName
from operations.database import writer
from operations.services.frozen_starts import freeze_start, make_start
from operations.services.stages import list_unfit_jobs, reset_stages
from operations.services.starts import Started, build_pipeline_start, check_worker_ready, describe_asked, find_receipt
from operations.stage_engine.rows import renew_pending

READY = "ALREADY_PENDING"


@dataclass(frozen=True, slots=True)
class RetryReport:
    """``refused`` maps a job that is left as it was to a bounded code. ``started`` is ``None`` where all were."""

    ready: Sequence[UUID]
    refused: dict[UUID, str]
    started: Started | None


def retry_stages(
    stage: StageName, job_ids: Sequence[UUID], *, profile_version: int, idempotency_key: str = ""
) -> RetryReport:
    """Reset these rows and run the stage on them, and on those that wait already.

    Raises ``WorkerUnavailable`` before anything changes. Once the reset is committed its run has an ID and will be
    started: where Temporal is lost in between, ``started`` has no run ID yet and a heartbeat repeats the start.
    """
    asked = describe_asked(stage, job_ids, action="retry-stage")
    if (known := find_receipt(idempotency_key, asked=asked)) is not None:
        return RetryReport(job_ids, {}, known)
    check_worker_ready()
    with writer():
        if (known := find_receipt(idempotency_key, asked=asked)) is not None:  # of two sent at once, the other's
            return RetryReport(job_ids, {}, known)
        refused = list_unfit_jobs(stage, job_ids)
        fit = [job_id for job_id in job_ids if job_id not in refused]
        report = reset_stages(stage, fit, reason_code="retry")
        ready = [job_id for job_id in fit if report.refused.get(job_id, READY) == READY]
        refused |= {job_id: code for job_id, code in report.refused.items() if code != READY}
        if not ready:
            return RetryReport((), refused, None)
        renew_pending(stage, ready)
        start = build_pipeline_start(
            stage, profile_version=profile_version, job_ids=ready, idempotency_key=idempotency_key
        )
        freeze_start(replace(start, once=True), idempotency_key=idempotency_key, asked=asked)
    return RetryReport(ready, refused, make_start(start.workflow_id))
