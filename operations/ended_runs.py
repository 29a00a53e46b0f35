"""The one key under which a run's end is logged: written once, and asked before anything is claimed in its name."""

from django.conf import settings
from django.db import connection


def make_end_key(run_id: str) -> str:
    return f"run:{run_id}:end"


def has_run_ended(run_id: str) -> bool:
    """Whether the run's authoritative end is recorded; one index lookup."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM job_events WHERE tenant_id = %s AND event_key = %s",
            [settings.TENANT_ID, make_end_key(run_id)],
        )
        return cursor.fetchone() is not None
