"""Slows password guessing down: five failures a minute, then waits that double. Kept in the database, so that
several web processes count together."""

import hashlib
import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction

from operations.models import SignInThrottle

FAILURES = 5
WINDOW = timedelta(minutes=1)
FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(hours=1)
FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is held against one address or account; ``level`` counts the waits it has earned."""

    failures: int
    level: int
    window_started_at: datetime
    blocked_until: datetime | None = None


def count_failure(standing: Standing, *, now: datetime) -> Standing:
    level = 0 if now - standing.window_started_at > FORGOTTEN_AFTER else standing.level
    is_same_window = now - standing.window_started_at < WINDOW
    failures = standing.failures + 1 if is_same_window else 1
    if failures < FAILURES:
        started = standing.window_started_at if is_same_window else now
        return replace(standing, failures=failures, level=level, window_started_at=started, blocked_until=None)
    wait = min(FIRST_WAIT * 2 ** min(level, 10), LONGEST_WAIT)
    return Standing(failures=0, level=level + 1, window_started_at=now, blocked_until=now + wait)


def reserve_attempt(*, address: str, account: str, now: datetime) -> int:
    """0 and the attempt counts as failed until ``forgive``; else the seconds to wait, and nothing is counted.

    Counted before the password is looked at: attempts made at once cannot all slip through.
    """
    keys = _hash_keys(address=address, account=account)
    with transaction.atomic():
        fresh = [SignInThrottle(key_hash=key, window_started_at=now) for key in keys]
        SignInThrottle.objects.bulk_create(fresh, ignore_conflicts=True)
        rows = list(SignInThrottle.objects.select_for_update().filter(key_hash__in=keys).order_by("key_hash"))
        wait = max((row.blocked_until - now for row in rows if row.blocked_until), default=timedelta())
        if wait > timedelta():
            return math.ceil(wait.total_seconds())
        for row in rows:
            held = Standing(row.failures, row.level, row.window_started_at, row.blocked_until)
            after = count_failure(held, now=now)
            row.failures, row.level = after.failures, after.level
            row.window_started_at, row.blocked_until = after.window_started_at, after.blocked_until
            row.save()
    return 0


def forgive(*, address: str, account: str) -> None:
    """Forget what was held against both: the password was right."""
    SignInThrottle.objects.filter(key_hash__in=_hash_keys(address=address, account=account)).delete()


def forget_old_failures(*, now: datetime) -> None:
    SignInThrottle.objects.filter(window_started_at__lt=now - FORGOTTEN_AFTER).delete()


def _hash_keys(*, address: str, account: str) -> list[str]:
    """Hashed, because a password typed into the wrong field must not be kept."""
    names = (f"address:{address}", f"account:{account.casefold()}")
    return sorted(hashlib.sha256(name.encode(errors="replace")).hexdigest() for name in names)
