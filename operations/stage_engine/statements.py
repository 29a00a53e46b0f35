"""The few statements that every transition runs, compiled once: building them anew took most of a transition's time."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection

from operations.folding.table import CompiledTable
from operations.models import JobStageState

_table = CompiledTable(JobStageState)
_ROWS = f"SELECT {', '.join(_table.columns)} FROM {_table.table}"
_BY_JOB = f"{_ROWS} WHERE job_id = %s"
_BY_STAGE = f"{_ROWS} WHERE stage = %s"


def find_stage_row(job_id: UUID, stage: str) -> JobStageState | None:
    rows = _select(f"{_BY_JOB} AND stage = %s", [_table.dump("job_id", job_id), str(stage)])
    return rows[0] if rows else None


def list_stage_rows(job_id: UUID) -> list[JobStageState]:
    return _select(f"{_BY_JOB} ORDER BY id", [_table.dump("job_id", job_id)])


def list_rows_in_stage(stage: str, job_ids: Sequence[UUID]) -> list[JobStageState]:
    """Those of a few jobs: they are named in one statement."""
    marks = ", ".join(["%s"] * len(job_ids))
    return _select(
        f"{_BY_STAGE} AND job_id IN ({marks})", [str(stage), *(_table.dump("job_id", job_id) for job_id in job_ids)]
    )


def _select(statement: str, parameters: list[Any]) -> list[JobStageState]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found = cursor.fetchall()
    return [JobStageState.from_db(connection.alias, _table.attributes, _table.load_values(values)) for values in found]


def update_stage_rows(rows: Sequence[JobStageState], names: Sequence[str]) -> None:
    """Write some columns of existing rows. Raises ``DatabaseError`` where one is gone."""
    if _table.update(rows, names) != len(rows):
        raise DatabaseError("a stage row that was to be written is gone")
