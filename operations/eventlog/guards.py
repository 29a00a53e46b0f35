"""Database guards that keep ``job_events`` append-only.

Installed after every ``migrate``: altering the table on SQLite rebuilds it and silently drops its triggers.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from operations.errors import NotConfigured

REFUSAL = "job_events is append-only"
_EVERYWHERE = ("job_events_no_update", "job_events_no_delete")
_NAMES = (*_EVERYWHERE, "job_events_no_truncate", "job_events_no_replace")

_SQLITE = (
    f"CREATE TRIGGER IF NOT EXISTS job_events_no_update BEFORE UPDATE ON job_events "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
    f"CREATE TRIGGER IF NOT EXISTS job_events_no_delete BEFORE DELETE ON job_events "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
    # A REPLACE deletes without asking the trigger above, but for connections that have recursive triggers.
    f"CREATE TRIGGER IF NOT EXISTS job_events_no_replace BEFORE INSERT ON job_events "
    f"WHEN EXISTS (SELECT 1 FROM job_events WHERE id = NEW.id) BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
)
_POSTGRES = (
    f"CREATE OR REPLACE FUNCTION job_events_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$",
    "CREATE OR REPLACE TRIGGER job_events_no_update BEFORE UPDATE ON job_events "
    "FOR EACH ROW EXECUTE FUNCTION job_events_refuse()",
    "CREATE OR REPLACE TRIGGER job_events_no_delete BEFORE DELETE ON job_events "
    "FOR EACH ROW EXECUTE FUNCTION job_events_refuse()",
    "CREATE OR REPLACE TRIGGER job_events_no_truncate BEFORE TRUNCATE ON job_events "
    "FOR EACH STATEMENT EXECUTE FUNCTION job_events_refuse()",
)


def install_guards() -> None:
    """Idempotent; does nothing where the table does not exist yet."""
    if "job_events" not in connection.introspection.table_names():
        return
    with connection.cursor() as cursor:
        for statement in _POSTGRES if connection.vendor == "postgresql" else _SQLITE:
            cursor.execute(statement)


def list_missing_guards() -> list[str]:
    last = "job_events_no_truncate" if connection.vendor == "postgresql" else "job_events_no_replace"
    wanted = (*_EVERYWHERE, last)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = 'job_events'::regclass AND tgenabled <> 'D'")
        else:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'job_events'")
        present = {row[0] for row in cursor.fetchall()}
    return [name for name in wanted if name not in present]


def refuse_unprotected_log() -> None:
    """Raises ``NotConfigured`` where something could rewrite the log."""
    if "job_events" not in connection.introspection.table_names():
        raise NotConfigured("The database is not migrated. Run: manage.py migrate")
    missing = list_missing_guards()
    if missing:
        raise NotConfigured(f"The event log is not protected: {', '.join(missing)}. Run: manage.py migrate")


@contextmanager
def lift_guards() -> Iterator[None]:
    """For the tests' flush only: the guards are gone inside the block."""
    with connection.cursor() as cursor:
        for name in _NAMES:
            suffix = " ON job_events" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{suffix}")
    try:
        yield
    finally:
        install_guards()
