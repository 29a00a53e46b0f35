"""Runs that ended badly and that nothing has made good since."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef

from operations.contracts import RunStatus
from operations.models import WorkflowRunProjection
from operations.queries.runs import OPEN_STATES

ENDED_BADLY: Final = (RunStatus.FAILED, RunStatus.TERMINATED, RunStatus.TIMED_OUT)
LOOKED_AT: Final = 50  # of each bad end, the newest
ONE_STEP: Final = "JobPipelineWorkflow"


def list_bad_runs(*, since: datetime, limit: int) -> list[WorkflowRunProjection]:
    """The newest runs since then that ended badly, less those that a later run has taken up again.

    That is a later run of the same workflow, of the same job unless it too went wrong, or one that did the same
    step. An end that is only assumed is no bad one. An index range for each bad end, then a lookup a row.
    """
    rows = [row for status in ENDED_BADLY for row in _list_newest(status, since)]
    if not rows:
        return []
    gone = _find_superseded([row.run_id for row in rows])
    redone = _map_steps_done(since) if any(row.workflow_type == ONE_STEP for row in rows) else {}
    left = [row for row in rows if row.run_id not in gone and not _is_redone(row, redone)]
    return sorted(left, key=lambda row: row.first_seen_at or since, reverse=True)[:limit]


def _list_newest(status: str, since: datetime) -> list[WorkflowRunProjection]:
    rows = WorkflowRunProjection.objects.filter(status=status, first_seen_at__gte=since)
    newest = list(rows.defer("result_json").order_by("-first_seen_at", "-run_id")[:LOOKED_AT])
    return [row for row in newest if not row.provisional]


def _find_superseded(run_ids: Sequence[str]) -> set[str]:
    later = WorkflowRunProjection.objects.filter(first_seen_at__gt=OuterRef("first_seen_at"))
    same_workflow = later.filter(workflow_id=OuterRef("workflow_id"))
    same_job = later.filter(
        job_id=OuterRef("job_id"), job_id__isnull=False, status__in=(*OPEN_STATES, RunStatus.SUCCEEDED)
    )
    rows = WorkflowRunProjection.objects.filter(Exists(same_workflow) | Exists(same_job), run_id__in=run_ids)
    return set(rows.values_list("run_id", flat=True))


def _map_steps_done(since: datetime) -> dict[str, datetime]:
    """When each step was last asked for with a good end; such runs have a workflow ID of their own each."""
    rows = WorkflowRunProjection.objects.filter(workflow_type=ONE_STEP, first_seen_at__gte=since)
    done: dict[str, datetime] = {}
    for row in rows.order_by("-first_seen_at", "-run_id")[:LOOKED_AT]:
        if row.status == RunStatus.SUCCEEDED and row.first_seen_at:
            done.setdefault(str(row.summary_json.get("stage", "")), row.first_seen_at)
    return done


def _is_redone(row: WorkflowRunProjection, done: dict[str, datetime]) -> bool:
    at = done.get(str(row.summary_json.get("stage", ""))) if row.workflow_type == ONE_STEP else None
    return at is not None and row.first_seen_at is not None and at > row.first_seen_at
