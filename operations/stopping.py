"""When an activity must leave its work: its run was asked to stop, or its worker was, or Temporal has lost either."""

from datetime import timedelta
from time import monotonic, sleep

from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError

from operations.contracts import ErrorCode

LOOK_SECONDS = 1.0


def is_canceled_by_operator() -> bool:
    """The run was asked to stop. A worker that shuts down is not that, nor a Temporal that has lost the run."""
    details = activity.cancellation_details()
    return activity.is_cancelled() and details is not None and details.cancel_requested


def must_stop() -> bool:
    return activity.is_cancelled() or activity.is_worker_shutdown()


def raise_if_stopped() -> None:
    """Between items of a batch: leave by cancellation, or hand the rest to the next worker."""
    if is_canceled_by_operator():
        raise CancelledError("canceled between items")
    if must_stop():
        raise make_shutdown_error()


def wait_here(pause: timedelta) -> None:
    """Between items of a batch, whose heartbeat goes on; leaves as ``raise_if_stopped`` does, as soon as that would."""
    end = monotonic() + pause.total_seconds()
    while (left := end - monotonic()) > 0:
        raise_if_stopped()
        sleep(min(left, LOOK_SECONDS))


def make_shutdown_error() -> ApplicationError:
    message = "This worker is shutting down; the rest is done by the next."
    return ApplicationError(message, type=ErrorCode.WORKER_SHUTDOWN)
