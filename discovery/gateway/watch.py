"""One deadline and one cancel question for everything that a fetch waits for."""

import time
from collections.abc import Callable
from typing import Final

from discovery.gateway.errors import FetchCancelled, NetworkFailure

SLICE_SECONDS: Final = 0.1  # the longest wait without asking whether the fetch is still wanted


class Watch:
    """Started when the fetch starts. Not shared between threads."""

    def __init__(self, *, timeout_seconds: float, cancelled: Callable[[], bool] | None) -> None:
        self._ends = time.monotonic() + timeout_seconds
        self._cancelled = cancelled

    def check(self) -> None:
        """Raises FetchCancelled, or NetworkFailure once the deadline has passed."""
        if self._cancelled is not None and self._cancelled():
            raise FetchCancelled
        if time.monotonic() >= self._ends:
            raise NetworkFailure("The site took too long to answer.", code="TIMED_OUT")

    def next_wait(self, until: float) -> float:
        """Seconds to wait now, after a check, for something that may last until then (monotonic)."""
        self.check()
        return max(min(SLICE_SECONDS, until - time.monotonic(), self._ends - time.monotonic()), 0.001)
