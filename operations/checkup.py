"""What ``manage.py doctor`` asks: each app declares its checks in ``health.py``."""

import errno
import logging
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection

from jobctrl.home import NO_SPACE

log = logging.getLogger(__name__)

DATABASE = "database"  # the check that speaks for all later ones which need it
FREE_SPACE = "Free some space on its disk."
PROBED = 256 * 1024  # bytes: SQLite's log and its index grow by less at a time


class Verdict(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. ``remedy`` is the sentence that helps; "" where all is well."""

    verdict: Verdict
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class NamedFinding:
    name: str
    finding: Finding


Check = Callable[[], Finding]
_checks: dict[str, Check] = {}


def health_check(name: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        if name in _checks:
            raise ValueError(f"health check {name} is declared twice")
        _checks[name] = check
        return check

    return register


def examine() -> list[NamedFinding]:
    """Run every check in order of declaration; one that raises is itself a failed finding.

    What the database holds cannot be told without it; its own check says why, once.
    """
    found: list[NamedFinding] = []
    for name, check in _checks.items():
        try:
            finding = check()
        except DatabaseError as error:
            if any(item.name == DATABASE and item.finding.verdict is Verdict.FAILED for item in found):
                finding = warn("cannot be told without the database", f"See {DATABASE}, above.")
            else:
                finding = warn(f"cannot be told: {describe_failure(error)}", advise_on_failure(error))
        except Exception as error:
            log.debug("health check %s raised", name, exc_info=True)
            finding = fail(
                f"the check itself raised {type(error).__name__}", "Run it with LOG_LEVEL=DEBUG to see where."
            )
        found.append(NamedFinding(name, finding))
    return found


def lacks_migrations(error: DatabaseError) -> bool:
    """Whether what was asked for is a table or a column that is not there."""
    return any(sign in str(error) for sign in ("no such table", "no such column", "does not exist"))


def is_outside_fault(error: DatabaseError) -> bool:
    """Whether the database itself is the trouble, rather than what we asked of it."""
    return type(error) in (DatabaseError, OperationalError) or lacks_migrations(error)


def describe_failure(error: DatabaseError) -> str:
    if lacks_migrations(error):
        return "the database is not migrated"
    if _is_about_the_file(error) and (obstacle := find_file_obstacle()):
        return f"the database {connection.settings_dict['NAME']} cannot be written ({obstacle.strerror})"
    return f"the database cannot be used ({str(error).strip().partition(chr(10))[0]})"


def advise_on_failure(error: DatabaseError) -> str:
    """The sentence that helps; a file that is no database is only mended by a backup."""
    if lacks_migrations(error):
        return "Run: manage.py migrate"
    if connection.vendor != "sqlite":
        return "Check DATABASE_URL and that its server is running."
    if "locked" in str(error):
        return "Another program is writing to it; try again in a moment."
    if "is full" in str(error):
        return FREE_SPACE
    if _is_about_the_file(error) and (obstacle := find_file_obstacle()):
        return advise_on_obstacle(obstacle)
    return "Check the file and its folder; where it is damaged, put a backup back: manage.py restore FOLDER"


def _is_about_the_file(error: DatabaseError) -> bool:
    return any(sign in str(error) for sign in ("unable to open", "readonly", "disk I/O"))


def find_file_obstacle() -> OSError | None:
    """Why SQLite cannot write its file or beside it; ``None`` where it can, and where there is no such file.

    It needs that for reading, too: its log and the log's index lie beside the file, and grow.
    """
    if connection.vendor != "sqlite":
        return None
    file = Path(connection.settings_dict["NAME"])
    if not file.is_absolute():  # in memory
        return None
    try:
        with tempfile.TemporaryFile(dir=file.parent) as probe:
            probe.write(bytes(PROBED))
            probe.flush()
        for part in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
            _refuse_unwritable(part)
    except OSError as obstacle:
        return obstacle
    return None


def _refuse_unwritable(file: Path) -> None:
    """Without opening it: to close any descriptor of a database's file drops all locks that this process has on it."""
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if file.exists() and not os.access(file, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def advise_on_obstacle(obstacle: OSError) -> str:
    if obstacle.errno in NO_SPACE:
        return FREE_SPACE
    is_ours = connection.settings_dict["NAME"] == str(settings.JOBCTRL_HOME.database)
    other = "set JOBCTRL_HOME to another folder" if is_ours else "name another in DATABASE_URL"
    return f"Make the file, what lies beside it and their folder writable for this user, or {other}."


def ok(detail: str) -> Finding:
    return Finding(Verdict.OK, detail)


def warn(detail: str, remedy: str) -> Finding:
    return Finding(Verdict.WARNING, detail, remedy)


def fail(detail: str, remedy: str) -> Finding:
    return Finding(Verdict.FAILED, detail, remedy)
