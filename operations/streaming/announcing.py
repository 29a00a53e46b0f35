"""Tell the tailers of other processes that a transaction with events has committed."""

from typing import Final

from django.db import connection

from operations.database import Write, before_commit, uses_postgres

NOTIFY_CHANNEL: Final = "jobctrl_events"


@before_commit
def announce_write(write: Write) -> None:
    """On PostgreSQL a notification, delivered at the commit; SQLite's ``data_version`` needs nothing."""
    if write.events and uses_postgres():
        with connection.cursor() as cursor:
            cursor.execute(f"NOTIFY {NOTIFY_CHANNEL}")
