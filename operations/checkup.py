"""What ``manage.py doctor`` asks: each app declares its checks in ``health.py``."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from django.db import DatabaseError, OperationalError, connection

log = logging.getLogger(__name__)


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
    """Run every check in order of declaration; one that raises is itself a failed finding."""
    found = []
    for name, check in _checks.items():
        try:
            finding = check()
        except DatabaseError as error:
            finding = warn(f"cannot be told: {describe_failure(error)}", advise_on_failure(error))
        except Exception as error:
            log.debug("health check %s raised", name, exc_info=True)
            finding = Finding(Verdict.FAILED, f"the check itself raised {type(error).__name__}", "See the log.")
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
    return f"the database cannot be used ({str(error).strip().partition(chr(10))[0]})"


def advise_on_failure(error: DatabaseError) -> str:
    """The sentence that helps; a file that is no database is only mended by a backup."""
    if lacks_migrations(error):
        return "Run: manage.py migrate"
    if connection.vendor != "sqlite":
        return "Check DATABASE_URL and that its server is running."
    if "locked" in str(error):
        return "Another program is writing to it; try again in a moment."
    return "Check the file and its folder; where it is damaged, put a backup back: manage.py restore FOLDER"


def ok(detail: str) -> Finding:
    return Finding(Verdict.OK, detail)


def warn(detail: str, remedy: str) -> Finding:
    return Finding(Verdict.WARNING, detail, remedy)


def fail(detail: str, remedy: str) -> Finding:
    return Finding(Verdict.FAILED, detail, remedy)
