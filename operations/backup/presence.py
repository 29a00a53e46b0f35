"""Whether somebody works in this workspace right now."""

from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, connections

from operations.backup.copying import is_in_use
from operations.backup.errors import RestoreRefused
from operations.queries import find_fresh_worker
from operations.wording import count_of


def find_database_file() -> Path | None:
    """Our SQLite file, there or not; ``None`` on PostgreSQL."""
    return Path(connection.settings_dict["NAME"]) if connection.vendor == "sqlite" else None


def refuse_live_worker() -> None:
    """Raises ``RestoreRefused`` while a worker's heartbeat is fresh."""
    file = find_database_file()
    if file is not None and not file.exists():
        return
    try:
        seen = find_fresh_worker()
    except DatabaseError:  # no tables yet, or none that can be read: nobody works with them
        return
    finally:
        connections.close_all()
    if seen is not None:
        raise RestoreRefused(
            f"A worker is running here (last seen at {seen:%H:%M:%S} UTC). Stop it and try again; one that was killed "
            "counts as running for 45 seconds."
        )


def _count_other_sessions() -> int:
    """On PostgreSQL, from whichever machine."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            return int(cursor.fetchone()[0])
    finally:
        connections.close_all()


def refuse_open_databases() -> None:
    """Raises ``RestoreRefused`` while Temporal, the web app or a command has one of the databases open."""
    from operations.processes.temporal_server import find_server

    connections.close_all()
    if connection.vendor == "postgresql" and (others := _count_other_sessions()):
        raise RestoreRefused(
            f"{count_of(others, 'other connection')} to this database: the web app, a command or a client uses it. "
            "Stop it and try again."
        )
    served, used = settings.JOBCTRL_HOME.temporal_database, find_database_file()
    # A server that was started by hand need not use WAL, and holds no lock then while nothing happens.
    if is_in_use(served) or find_server(served):
        raise RestoreRefused(f"Temporal is serving {served}. Stop it and try again.")
    if used is not None and is_in_use(used):
        raise RestoreRefused(f"Another process is using {used}. Stop it and try again.")
