"""The database's own programs, where the data is on PostgreSQL: ``pg_dump`` and ``pg_restore``."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from operations.backup.copying import CopyFailed
from operations.backup.errors import BackupRefused, RestoreRefused

DEBIAN_FOLDER = Path("/usr/lib/postgresql")
REASON_LIMIT = 200
ASIDE = "before_restore_"
#: Whoever restores it owns it; comments on extensions are their owner's alone.
PLAIN = ("--no-owner", "--no-privileges", "--no-comments")


class ProgramMissing(BackupRefused, RestoreRefused):
    """PostgreSQL's client programs were not found. Install them (Debian: apt-get install postgresql-client)."""


def find_program(name: str) -> Path:
    """The newest of Debian's versions, else the one on PATH: an older one refuses a newer server.

    Raises:
        ProgramMissing: with the remedy.
    """
    found = [path for path in DEBIAN_FOLDER.glob(f"*/bin/{name}") if os.access(path, os.X_OK)]
    if found:
        return max(found, key=lambda path: [int(part) for part in path.parts[-3].split(".") if part.isdigit()])
    on_path = shutil.which(name)
    if on_path is None:
        raise ProgramMissing(
            f"{name} was not found, and the data is on PostgreSQL. Install PostgreSQL's client programs "
            "(Debian: apt-get install postgresql-client)."
        )
    return Path(on_path)


def dump_postgres(target: Path, *, while_waiting: Callable[[], None]) -> None:
    """One moment of the database in pg_dump's custom format. Raises ``ProgramMissing`` or ``CopyFailed``."""
    program = find_program("pg_dump")
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    _run(
        program,
        *PLAIN,
        "--format=custom",
        f"--exclude-schema={ASIDE}*",
        "--file",
        str(target),
        while_waiting=while_waiting,
    )


def restore_postgres(source: Path) -> None:
    """Fill the schema ``public``, which must be empty; all of it or nothing. Raises as ``dump_postgres``."""
    program = find_program("pg_restore")
    _run(program, *PLAIN, "--single-transaction", "--exit-on-error", str(source))


def measure_postgres() -> int:
    """Bytes of the database on the server's disk: more than its dump takes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def move_schema_aside(name: str) -> None:
    """Rename ``public``, make an empty one and leave the extensions in it, in one transaction."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        extensions = _list_extensions(cursor)
        cursor.execute(f'ALTER SCHEMA public RENAME TO "{name}"')
        cursor.execute("CREATE SCHEMA public")
        _move_extensions(cursor, extensions)


def move_schema_back(name: str) -> None:
    """Undo ``move_schema_aside``; in ``public`` there must be nothing but extensions."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        extensions = _list_extensions(cursor)
        cursor.execute("ALTER SCHEMA public RENAME TO unfinished_restore")
        cursor.execute(f'ALTER SCHEMA "{name}" RENAME TO public')
        _move_extensions(cursor, extensions)
        cursor.execute("DROP SCHEMA unfinished_restore")


def _list_extensions(cursor: Any) -> list[str]:
    cursor.execute(
        "SELECT e.extname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE n.nspname = 'public'"
    )
    return [name for (name,) in cursor.fetchall()]


def _move_extensions(cursor: Any, names: list[str]) -> None:
    for name in names:
        cursor.execute(f'ALTER EXTENSION "{name}" SET SCHEMA public')


def _run(program: Path, *options: str, while_waiting: Callable[[], None] = lambda: None) -> None:
    """``while_waiting`` is called about once a second."""
    config = connection.settings_dict
    places = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD"}
    environment = {name: str(config[key]) for name, key in places.items() if config.get(key)}
    with subprocess.Popen(
        [str(program), *options, "--dbname", str(config["NAME"])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # The password travels in the environment: a command line is readable by every user of the machine.
        env={**os.environ, **environment},
    ) as running:
        try:
            errors = _wait_for_end(running, while_waiting)
        except BaseException:
            running.kill()
            raise
    if running.returncode:
        reason = errors.strip().splitlines()[0][:REASON_LIMIT] if errors.strip() else "no reason given"
        raise CopyFailed(f"{program.name} failed: {reason}")


def _wait_for_end(running: "subprocess.Popen[str]", while_waiting: Callable[[], None]) -> str:
    while True:
        try:
            _, errors = running.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            while_waiting()
        else:
            return errors
