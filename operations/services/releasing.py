"""Taking a stage from a run that nobody can find: an operator's word, never the engine's own conclusion."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from operations import queries
from operations.contracts import StageName, StageState
from operations.database import writer
from operations.ended_runs import has_run_ended
from operations.errors import OperationsError, WorkerUnavailable
from operations.eventlog import append_marker
from operations.folding.engine import list_flagged_apps
from operations.models import JobStageState
from operations.services.describing import Found, describe_runs
from operations.services.operating import STAGE_RELEASED
from operations.services.stages import find_rows
from operations.stage_engine.lifecycle import release_row
from operations.temporal import call_temporal

HELD = (StageState.RUNNING, StageState.QUEUED)


class ReleaseRefused(OperationsError):
    """Nothing can be released while what is known of the runs is behind the log. Catch the projections up first."""

    code = "release_refused"


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """``refused`` maps a job to ``NO_SUCH_ROW``, ``NOT_HELD`` or ``RUN_OPEN``."""

    released: tuple[UUID, ...]
    refused: dict[UUID, str]


def release_stages(stage: StageName, job_ids: Iterable[UUID], *, actor: str) -> ReleaseReport:
    """Put held rows back to ``pending`` whose run has an assumed end, or no record at all (spec/02, last section).

    Attempts are kept. The lease is void, so a predecessor that comes back after all publishes nothing. A run that is
    open in our records, or that Temporal knows to be running, keeps its rows; where Temporal cannot be asked, our
    records decide. Repeating it changes nothing.
    """
    wanted = list(dict.fromkeys(job_ids))
    alive = _list_running(list(find_rows(stage, wanted).values()))
    released: list[UUID] = []
    refused: dict[UUID, str] = {}
    with writer():
        if "operations" in list_flagged_apps():
            raise ReleaseRefused
        rows = find_rows(stage, wanted)
        for job_id in wanted:
            row = rows.get(job_id)
            code = "NO_SUCH_ROW" if row is None else _find_refusal(row, alive)
            if row is None or code:
                refused[job_id] = code
                continue
            body = {"stage": stage, "fromState": row.state, "runId": row.owner_run_id, "actor": actor}
            release_row(row)
            append_marker(STAGE_RELEASED, job_id=job_id, body=body)
            released.append(job_id)
    return ReleaseReport(tuple(released), refused)


def _find_refusal(row: JobStageState, alive: set[str]) -> str:
    if row.state not in HELD:
        return "NOT_HELD"
    if row.owner_run_id in alive:
        return "RUN_OPEN"
    if has_run_ended(row.owner_run_id):
        return ""
    run = queries.find_run_row(row.owner_run_id)
    return "" if run is None or run.provisional else "RUN_OPEN"


def _list_running(rows: Sequence[JobStageState]) -> set[str]:
    """Those runs among the owners of held rows that Temporal knows to be running now."""
    owners = {row.owner_run_id: row.owner_workflow_id for row in rows if row.state in HELD and row.owner_run_id}
    if not owners:
        return set()
    runs = [queries.OpenRun(run_id, workflow_id, "", False, 0) for run_id, workflow_id in owners.items()]
    try:
        found = call_temporal(lambda client: describe_runs(client, runs))
    except WorkerUnavailable:
        return set()
    return {run.run_id for run, description in zip(runs, found, strict=True) if description.found is Found.RUNNING}
