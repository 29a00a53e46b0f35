"""What ``manage.py doctor`` asks: each app declares its checks in ``health.py``."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from django.db import DatabaseError

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
        except DatabaseError:
            finding = warn("cannot be told without a migrated database", "Run: manage.py migrate")
        except Exception as error:
            log.debug("health check %s raised", name, exc_info=True)
            finding = Finding(Verdict.FAILED, f"the check itself raised {type(error).__name__}", "See the log.")
        found.append(NamedFinding(name, finding))
    return found


def ok(detail: str) -> Finding:
    return Finding(Verdict.OK, detail)


def warn(detail: str, remedy: str) -> Finding:
    return Finding(Verdict.WARNING, detail, remedy)


def fail(detail: str, remedy: str) -> Finding:
    return Finding(Verdict.FAILED, detail, remedy)
