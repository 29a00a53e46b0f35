"""What every activity gets: its own clean database connection, a heartbeat, a counted slot, a bounded failure."""

import contextvars
import functools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import close_old_connections
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from operations.contracts import NEVER_RETRIED, ErrorCode
from operations.database import OUTAGES
from operations.errors import OperationsError
from operations.log_lines import note_places

log = logging.getLogger(__name__)


class SlotCounter:
    """How many remote activities run now; read by the worker's heartbeat."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy = 0

    @property
    def busy(self) -> int:
        return self._busy

    @contextmanager
    def occupy(self) -> Iterator[None]:
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1


class EngineInterceptor(Interceptor):
    """Wraps ``input.fn``, so that everything happens in the activity's own thread."""

    def __init__(self, slots: SlotCounter, *, beat_seconds: float) -> None:
        self.slots = slots
        self.beat_seconds = beat_seconds

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Inbound(next, self.slots, self.beat_seconds)


class _Inbound(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, slots: SlotCounter, beat_seconds: float) -> None:
        super().__init__(next)
        self.slots = slots
        self.beat_seconds = beat_seconds

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        input.fn = _wrap(input.fn, self.slots, self.beat_seconds)
        return await super().execute_activity(input)


def _wrap(function: Callable[..., Any], slots: SlotCounter, beat_seconds: float) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any) -> Any:
        close_old_connections()
        try:
            if activity.info().is_local:
                return _translate(function, args)
            with slots.occupy(), _beating(beat_seconds):
                return _translate(function, args)
        finally:
            close_old_connections()

    return run


@contextmanager
def _beating(seconds: float) -> Iterator[None]:
    """Heartbeat from a helper thread: a long call must not look like a dead worker.

    The first beat comes after an interval: most activities end before it, and each beat costs the server a write.
    """
    stop = threading.Event()
    context = contextvars.copy_context()

    def beat() -> None:
        while not stop.wait(seconds):
            activity.heartbeat()

    thread = threading.Thread(target=context.run, args=(beat,), name="activity-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=1)


def _translate(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Run, turning every exception into a code and a bounded sentence, without its cause."""
    try:
        return function(*args)
    except (ApplicationError, CancelledError):
        raise
    except OperationsError as error:
        retryable = error.retryable and error.code not in NEVER_RETRIED
        raise ApplicationError(error.message, type=str(error.code), non_retryable=not retryable) from None
    except OUTAGES as error:
        log.error("activity %s raised %s", activity.info().activity_type, type(error).__name__)
        note_places(log, error)
        raise ApplicationError("The database could not be used.", type=ErrorCode.DATABASE_UNAVAILABLE) from None
    except Exception as error:
        name = type(error).__name__
        log.error("activity %s raised %s", activity.info().activity_type, name)
        note_places(log, error)
        raise ApplicationError(
            f"The activity raised {name}.", type="unexpected_error", non_retryable=_is_hopeless(error)
        ) from None


def _is_hopeless(error: Exception) -> bool:
    return isinstance(error, TypeError | AttributeError | ImportError | NotImplementedError)
