"""Timeouts and retries of every activity: start-to-close always, heartbeat always, attempts always finite.

Workflows pass this module through the sandbox, so it may read the environment once.
"""

import os
from datetime import timedelta
from typing import Any

from temporalio.common import RetryPolicy

from operations.contracts import NEVER_RETRIED

HEARTBEAT_TIMEOUT = timedelta(seconds=float(os.environ.get("JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS", "20")))
_NON_RETRYABLE = [str(code) for code in NEVER_RETRIED]


def _policy(first: int, longest: int, attempts: int) -> RetryPolicy:
    return RetryPolicy(
        initial_interval=timedelta(seconds=first),
        maximum_interval=timedelta(seconds=longest),
        maximum_attempts=attempts,
        non_retryable_error_types=_NON_RETRYABLE,
    )


#: Source families, enrichment and scoring: 3 attempts, 5 s to 60 s apart.
#: A batch over a slow site may take hours; a dead worker is noticed by its heartbeat, not by this limit.
NETWORK: dict[str, Any] = {
    "start_to_close_timeout": timedelta(hours=6),
    "heartbeat_timeout": HEARTBEAT_TIMEOUT,
    "retry_policy": _policy(5, 60, 3),
}
#: Tailoring and letters: 3 attempts, 10 s to 120 s apart.
MODEL: dict[str, Any] = {
    "start_to_close_timeout": timedelta(minutes=30),
    "heartbeat_timeout": HEARTBEAT_TIMEOUT,
    "retry_policy": _policy(10, 120, 3),
}
RENDER: dict[str, Any] = {
    "start_to_close_timeout": timedelta(minutes=10),
    "heartbeat_timeout": HEARTBEAT_TIMEOUT,
    "retry_policy": _policy(10, 120, 3),
}
#: Short writes of the envelope, run as local activities beside the model work.
CONTROL: dict[str, Any] = {
    "start_to_close_timeout": timedelta(seconds=30),
    "retry_policy": _policy(1, 30, 5),
}
STAGE_POLICIES = {"enrich": NETWORK, "score": NETWORK, "tailor": MODEL, "cover": MODEL, "pdf": RENDER}
