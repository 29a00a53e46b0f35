"""The threshold that the operator chose is applied to what was scored before."""

from operations.contracts import StageName, StageState
from operations.database import writer
from operations.queries import list_jobs_scored_between
from operations.reconciling import on_heartbeat
from operations.services.stages import hold_dependents
from operations.settings_store import get_setting, read_marker, store_marker
from operations.stage_engine import Hold
from scoring.stages import MIN_SCORE

MARKER = "applied_min_fit_score"
SLICE = 200


@on_heartbeat
def apply_threshold() -> int:
    """Only the jobs between the old and the new threshold can change; they do in short transactions."""
    wanted = int(get_setting("min_fit_score"))
    applied = int(read_marker(MARKER, default=wanted))
    changes = 0
    if applied != wanted:
        low, high = sorted((applied, wanted))
        job_ids = list_jobs_scored_between(low, high - 1)
        for start in range(0, len(job_ids), SLICE):
            with writer():
                for job_id, value in job_ids[start : start + SLICE]:
                    hold = Hold(MIN_SCORE, applies=value < wanted)
                    changes += hold_dependents(job_id, StageName.SCORE, StageState.SUCCEEDED, hold=hold)
    if applied != wanted or read_marker(MARKER, default=None) is None:
        store_marker(MARKER, wanted)
    return changes
