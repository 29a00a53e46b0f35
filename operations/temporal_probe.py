"""Whether Temporal answers right now: asked rarely, once for all who want to know."""

import asyncio
import atexit
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from django.utils import timezone

from operations.errors import WorkerUnavailable
from operations.temporal import connect, resolve_address, settle_bridge_at_exit

PROBE_SECONDS: Final = 1.0
#: Where nobody waits for the answer, a busy machine is given longer before it is called lost.
PATIENT_SECONDS: Final = 3.0
PROBE_KEPT_SECONDS: Final = 5.0
#: After so long nobody knows any more whether an answer still holds.
PROBE_TRUSTED_SECONDS: Final = 45.0


class TemporalState(StrEnum):
    """``unknown``: it was never started here, so there is no address to ask, or nobody has asked yet."""

    REACHABLE = "reachable"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TemporalAnswer:
    """``lost_since`` is set while it is unreachable: when it last answered, or when it was first asked in vain."""

    state: TemporalState
    lost_since: datetime | None = None
    has_address: bool = True

    @property
    def is_lost(self) -> bool:
        return self.state is TemporalState.UNREACHABLE


class TemporalProbe:
    """Asks once for all: who comes while a question is open gets the answer before it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = TemporalState.UNKNOWN
        self._asked_at = float("-inf")
        self._answered_at: datetime | None = None
        self._asking: threading.Thread | None = None
        # A process that ends while the SDK's own threads still ask for it can die of a signal.
        atexit.register(self._finish)

    def _finish(self) -> None:
        if self._asking is not None:
            self._asking.join(PATIENT_SECONDS)

    def read(self) -> TemporalState:
        """Waits for the answer, at most ``PROBE_SECONDS``; not for a thread with a running loop."""
        if self._is_older_than(PROBE_KEPT_SECONDS) and self._lock.acquire(blocking=False):
            self._ask(PROBE_SECONDS)
        return self._state

    def peek(self) -> TemporalAnswer:
        """What is known without waiting. Where that is old, a thread of its own asks for whoever comes next."""
        if not _has_address():
            return TemporalAnswer(TemporalState.UNKNOWN, has_address=False)
        if self._is_older_than(PROBE_KEPT_SECONDS) and self._lock.acquire(blocking=False):
            settle_bridge_at_exit()
            asking = threading.Thread(target=self._ask, args=(PATIENT_SECONDS,), daemon=True)
            self._asking = asking
            asking.start()
        if self._is_older_than(PROBE_TRUSTED_SECONDS):
            return TemporalAnswer(TemporalState.UNKNOWN)
        is_lost = self._state is TemporalState.UNREACHABLE
        return TemporalAnswer(self._state, self._answered_at if is_lost else None)

    def _is_older_than(self, seconds: float) -> bool:
        return time.monotonic() - self._asked_at >= seconds

    def _ask(self, seconds: float) -> None:
        try:
            state = ask_temporal(seconds)
            if state is TemporalState.REACHABLE or self._answered_at is None:
                self._answered_at = timezone.now()
            self._state = state
            self._asked_at = time.monotonic()
        finally:
            self._lock.release()


def ask_temporal(seconds: float = PROBE_SECONDS) -> TemporalState:
    """Not for a thread with a running loop."""
    import temporalio.client  # noqa: F401 - reading it in takes as long as the question may

    if not _has_address():
        return TemporalState.UNKNOWN
    try:
        is_serving = asyncio.run(asyncio.wait_for(_check_health(seconds), seconds))
    except Exception:  # whatever it is, the answer is that Temporal did not answer
        return TemporalState.UNREACHABLE
    return TemporalState.REACHABLE if is_serving else TemporalState.UNREACHABLE


def _has_address() -> bool:
    try:
        resolve_address()
    except WorkerUnavailable:
        return False
    return True


async def _check_health(seconds: float) -> bool:
    client = await connect()
    return await client.service_client.check_health(timeout=timedelta(seconds=seconds))


#: This process's own.
temporal_probe = TemporalProbe()
