"""A listed job's stages as the wording takes them: a failure that is tried again by itself is told apart."""

from typing import Any

from operations.contracts import StageState
from operations.models import JobListProjection


def read_stages(job: JobListProjection) -> dict[str, Any]:
    """Stage to state, or to an entry where more than the state is known."""
    stages = dict(job.stages_json)
    if job.retrying_stage and stages.get(job.retrying_stage) == StageState.FAILED:
        stages[job.retrying_stage] = {"state": StageState.FAILED.value, "retryable": True}
    return stages
