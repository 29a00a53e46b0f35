"""The engine's exception tree. A class's docstring is its default message; retryability is in the type."""

from collections.abc import Mapping
from datetime import timedelta

from operations.contracts import ErrorCode

MESSAGE_LIMIT = 300


class OperationsError(Exception):
    """Something in the engine went wrong."""

    code: str = ErrorCode.INTERNAL
    retryable: bool = False
    retry_after: timedelta | None = None  # how long whoever refused asked to be left alone

    def __init__(self, message: str = "", *, code: str = "") -> None:
        self.message = (message or (type(self).__doc__ or "")).strip()[:MESSAGE_LIMIT]
        if code:
            self.code = code
        super().__init__(self.message)


class StageError(OperationsError):
    """The stage could not be finished for this job."""


class LeaseLost(StageError):
    """Another attempt owns this stage now; this one must not publish."""

    code = "LEASE_LOST"


class StageCanceled(StageError):
    """The run was canceled before this stage published its result."""

    code = "CANCELED"


class WorkerStops(StageError):
    """The worker was told to stop before this stage had a result; the next one does it."""

    code = ErrorCode.WORKER_SHUTDOWN
    retryable = True


class IllegalTransition(StageError):
    """The stage cannot go from its present state to the one asked for."""

    code = "ILLEGAL_TRANSITION"


class UnknownJob(StageError):
    """There is no such job here."""

    code = "JOB_NOT_FOUND"


class StageFailure(StageError):
    """The stage failed; a retry would end the same way."""


class TransientStageFailure(StageFailure):
    """The stage failed for a reason that may pass; it will be tried again."""

    code: str = ErrorCode.TRANSIENT_NETWORK
    retryable = True


class WorkspaceMismatch(OperationsError):
    """This work belongs to another workspace and is not adopted."""

    code = ErrorCode.CONFIGURATION


class NotConfigured(OperationsError):
    """Something must be set up first."""

    code = ErrorCode.CONFIGURATION


class RunStopped(OperationsError):
    """The run has ended or was asked to stop; nothing more is done in its name."""

    code = "RUN_ENDED"


class MissingInput(OperationsError):
    """Something that this work needs does not exist."""

    code = ErrorCode.MISSING_INPUT


class InvalidSetting(OperationsError):
    """The value was refused. ``fields`` says for each setting why, and what is allowed."""

    code = "invalid_setting"

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = dict(fields)
        super().__init__(". ".join(f"{name}: {reason}" for name, reason in fields.items()))


class WorkerUnavailable(OperationsError):
    """No worker is ready, or Temporal cannot be reached."""

    code = "worker_runtime_unavailable"
    retryable = True
