"""The few statements that every transition runs, compiled once: building them anew took most of a transition's time."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection

from operations.folding.table import CompiledTable
from operations.models import JobStageState

_table = CompiledTable(JobStageState)
_BY_JOB = f"SELECT {', '.join(_table.columns)} FROM {_table.table} WHERE job_id = %s"


def find_stage_row(job_id: UUID, stage: str) -> JobStageState | None:
    rows = _select(f"{_BY_JOB} AND stage = %s", [_table.dump("job_id", job_id), str(stage)])
    return rows[0] if rows else None


def list_stage_rows(job_id: UUID) -> list[JobStageState]:
    return _select(f"{_BY_JOB} ORDER BY id", [_table.dump("job_id", job_id)])


def _select(statement: str, parameters: list[Any]) -> list[JobStageState]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found = cursor.fetchall()
    return [JobStageState.from_db(connection.alias, _table.attributes, _table.load_values(values)) for values in found]


def update_stage_rows(rows: Sequence[JobStageState], names: Sequence[str]) -> None:
    """Write some columns of existing rows. Raises ``DatabaseError`` where one is gone."""
    if _table.update(rows, names) != len(rows):
        raise DatabaseError("a stage row that was to be written is gone")
