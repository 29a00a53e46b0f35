"""How many stage rows are in each state: counted as they move, so that no page has to count rows."""

from typing import Any

from django.conf import settings
from django.db import connection

from operations.database import Write, before_commit, require_write
from operations.models import StageCounter

_UPSERT = (
    "INSERT INTO stage_counters (tenant_id, stage, state, rows) VALUES {marks} "
    "ON CONFLICT (tenant_id, stage, state) DO UPDATE SET rows = stage_counters.rows + excluded.rows"
)


def note_added(stage: str, state: str, *, count: int = 1) -> None:
    require_write().tallies[stage, state] += count


def note_moved(stage: str, before: str, after: str) -> None:
    if before != after:
        tallies = require_write().tallies
        tallies[stage, before] -= 1
        tallies[stage, after] += 1


@before_commit
def store_tallies(write: Write) -> None:
    """One statement for all that moved in this transaction."""
    values: list[Any] = []
    for key, delta in sorted(write.tallies.items()):
        if delta:
            values += (settings.TENANT_ID, *key, delta)
    if not values:
        return
    marks = ", ".join(["(%s, %s, %s, %s)"] * (len(values) // 4))
    with connection.cursor() as cursor:
        cursor.execute(_UPSERT.format(marks=marks), values)


def read_counters() -> dict[str, dict[str, int]]:
    """Rows by stage and state, from a handful of counter rows."""
    found: dict[str, dict[str, int]] = {}
    for row in StageCounter.objects.filter(tenant_id=settings.TENANT_ID, rows__gt=0):
        found.setdefault(row.stage, {})[row.state] = row.rows
    return found
