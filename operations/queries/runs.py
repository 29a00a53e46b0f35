"""Reads of workflow runs."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote
from uuid import UUID

from django.conf import settings
from django.db.models import TextField

from operations.compiled import CompiledQuery
from operations.contracts import RunStatus
from operations.errors import WorkerUnavailable
from operations.models import WorkflowRunProjection
from operations.temporal import resolve_address

PAGE = 500
OPEN_STATES = ("starting", "in_progress")


@dataclass(frozen=True, slots=True)
class RunRow:
    """One workflow run as the projection shows it."""

    run_id: str
    workflow_id: str
    workflow_type: str
    status: str
    error_code: str
    result: dict[str, str]
    started_at: datetime | None
    ended_at: datetime | None


def find_run(run_id: str) -> RunRow | None:
    row = WorkflowRunProjection.objects.filter(run_id=run_id).first()
    return None if row is None else _to_run(row)


def _to_run(row: WorkflowRunProjection) -> RunRow:
    return RunRow(
        row.run_id,
        row.workflow_id,
        row.workflow_type,
        row.status,
        row.error_code,
        row.result_json,
        row.started_at,
        row.ended_at,
    )


_RUN = CompiledQuery(lambda run_id: WorkflowRunProjection.objects.filter(run_id=run_id), TextField())


def find_run_row(run_id: str) -> WorkflowRunProjection | None:
    return _RUN.first(run_id)


def count_runs(run_ids: Sequence[str]) -> int:
    """How many of these runs have a row; a lookup for each, in pages."""
    pages = (run_ids[start : start + PAGE] for start in range(0, len(run_ids), PAGE))
    return sum(WorkflowRunProjection.objects.filter(run_id__in=page).count() for page in pages)


def has_workflow(workflow_id: str) -> bool:
    return WorkflowRunProjection.objects.filter(workflow_id=workflow_id).exists()


def list_open_runs_of_job(job_id: UUID) -> list[RunRow]:
    rows = WorkflowRunProjection.objects.filter(job_id=job_id, status__in=OPEN_STATES).order_by("run_id")
    return [_to_run(row) for row in rows[:20]]


def count_open_runs(workflow_ids: Sequence[str]) -> int:
    """How many of these workflows have a run that has not ended."""
    return WorkflowRunProjection.objects.filter(workflow_id__in=workflow_ids, status__in=OPEN_STATES).count()


def count_failed_runs(workflow_ids: Sequence[str]) -> int:
    """How many of these workflows ended otherwise than well at their newest run."""
    rows = WorkflowRunProjection.objects.filter(workflow_id__in=workflow_ids).order_by("first_seen_at", "run_id")
    newest = dict(rows.values_list("workflow_id", "status"))
    return sum(status not in (*OPEN_STATES, RunStatus.SUCCEEDED) for status in newest.values())


def build_temporal_command(workflow_id: str, run_id: str) -> str:
    """What shows the run's whole history in a terminal; "" where Temporal has not been started here yet."""
    try:
        address = resolve_address()
    except WorkerUnavailable:
        return ""
    files = {
        "--tls-ca-path": settings.TEMPORAL_TLS_CA,
        "--tls-cert-path": settings.TEMPORAL_TLS_CERT,
        "--tls-key-path": settings.TEMPORAL_TLS_KEY,
        "--tls-server-name": settings.TEMPORAL_TLS_SERVER_NAME,
    }
    tls = [word for name, value in files.items() if value for word in (name, value)]
    where = ["--address", address, "--namespace", settings.TEMPORAL_NAMESPACE, *tls]
    return shlex.join(["temporal", "workflow", "show", *where, "--workflow-id", workflow_id, "--run-id", run_id])


def find_temporal_url(workflow_id: str, run_id: str) -> str:
    """The run's history in Temporal's own pages, where ``TEMPORAL_UI_URL`` says where these are; else ""."""
    if not settings.TEMPORAL_UI_URL:
        return ""
    namespace = quote(settings.TEMPORAL_NAMESPACE, safe="")
    workflow = quote(workflow_id, safe="")
    return f"{settings.TEMPORAL_UI_URL.rstrip('/')}/namespaces/{namespace}/workflows/{workflow}/{run_id}/history"
