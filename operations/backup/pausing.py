"""Waiting until no worker has work."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.utils import timezone

from operations.backup.errors import BackupRefused
from operations.services.draining import ask_to_drain, count_drained, end_drain, list_undrained, renew_drain

DRAIN_SECONDS = 75.0
RENEW_SECONDS = 10.0
POLL_SECONDS = 0.2

#: Gets what is being done, one line at a time.
Show = Callable[[str], None]


@contextmanager
def drained_workers(*, show: Show) -> Iterator[tuple[Callable[[], None], int]]:
    """Inside it no worker has work. Gives a function to call often, and how many workers paused."""
    token = ask_to_drain(now=timezone.now())
    renewed = time.monotonic()

    def keep() -> None:
        nonlocal renewed
        if time.monotonic() - renewed >= RENEW_SECONDS:
            renew_drain(token, now=timezone.now())
            renewed = time.monotonic()

    try:
        deadline = time.monotonic() + DRAIN_SECONDS
        while waiting := list_undrained(token, now=timezone.now()):
            show(f"waiting until {len(waiting)} {'worker pauses' if len(waiting) == 1 else 'workers pause'}")
            if time.monotonic() > deadline:
                raise BackupRefused(
                    f"{waiting[0]} did not pause within {DRAIN_SECONDS:.0f} s, so nothing was copied. "
                    "Try again when its present work is done, or stop it first."
                )
            keep()
            time.sleep(POLL_SECONDS)
        yield keep, count_drained(token)
    finally:
        end_drain(token)
