"""How a call to a model ends badly. No message quotes a prompt, an answer or a key."""

from datetime import datetime, timedelta

from operations.contracts import ErrorCode
from operations.errors import OperationsError, StageFailure, TransientStageFailure


class WorkWaits(OperationsError):
    """The work was not begun: it goes back to waiting, and no attempt of it is used up.

    ``reason`` is why it waits, ``until`` when that may be over (``None`` = nobody knows). What uses no model of
    ``lane`` need not wait for it; "" where it is not for one lane alone.
    """

    reason: str = ""

    def __init__(self, message: str = "", *, until: datetime | None = None, lane: str = "") -> None:
        super().__init__(message)
        self.until = until
        self.lane = lane


class BudgetExceeded(WorkWaits):
    """Today's limit for models has been reached, so nothing is asked of them until the day ends (UTC)."""

    code = ErrorCode.BUDGET_EXCEEDED
    reason = "budget"


class ProviderPaused(WorkWaits):
    """The provider refuses this account for now; it is asked again from time to time."""

    code = ErrorCode.AUTHENTICATION
    reason = "provider_paused"


class ProviderNotSetUp(StageFailure):
    """The provider of this lane lacks its key or its model."""

    code = ErrorCode.CONFIGURATION


class RequestRefused(StageFailure):
    """The provider refused the request itself; asking again would end the same way."""

    code = ErrorCode.CONFIGURATION


class ProviderBusy(TransientStageFailure):
    """The provider could not answer now. ``retry_after`` is what it asked for, at most five minutes."""

    code = ErrorCode.LLM_TRANSIENT

    def __init__(self, message: str = "", *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AnswerUnusable(TransientStageFailure):
    """The model's answer could not be used, also not after one repair; it is never taken for a verdict."""

    code = "LLM_ANSWER_UNUSABLE"
