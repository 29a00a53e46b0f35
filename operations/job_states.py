"""A listed job's stages as the wording takes them: a failure that is tried again by itself and work that
has to wait are told apart."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from operations.contracts import StageState
from operations.models import JobListProjection
from operations.queries import map_lost_stages


def read_stages(job: JobListProjection, lost: Collection[str] = ()) -> dict[str, Any]:
    """Stage to state, or to an entry where more than the state is known; ``lost`` as of ``map_lost_of``."""
    stages = dict(job.stages_json)
    if job.retrying_stage and stages.get(job.retrying_stage) == StageState.FAILED:
        stages[job.retrying_stage] = {"state": StageState.FAILED.value, "retryable": True}
    if job.waiting_stage and stages.get(job.waiting_stage) == StageState.PENDING:
        at = job.waits_since.isoformat() if job.waits_since else ""
        stages[job.waiting_stage] = {"state": StageState.PENDING.value, "reasonCode": job.waits_for, "at": at}
    return mark_lost(stages, lost)


def map_lost_of(jobs: Iterable[JobListProjection]) -> dict[UUID, frozenset[str]]:
    """The stages that a dead run still holds, of a page of jobs; one statement, none where nothing runs."""
    working = [job.job_id for job in jobs if StageState.RUNNING in job.stages_json.values()]
    return map_lost_stages(working) if working else {}


def mark_lost(stages: Mapping[str, Any], lost: Collection[str]) -> dict[str, Any]:
    """The same stages, those that a dead run still holds marked as such."""
    return {
        stage: {**(entry if isinstance(entry, Mapping) else {"state": entry}), "ownerLost": True}
        if stage in lost
        else entry
        for stage, entry in stages.items()
    }
