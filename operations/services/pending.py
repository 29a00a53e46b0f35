"""What Temporal has pending for a run that goes on: which activities wait, work, or are tried again.

Runtime, never a fact: each pass replaces what the one before saw of a run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from operations.contracts import ErrorCode
from operations.database import writer
from operations.models import PendingActivity, WorkflowRunProjection
from operations.queries import OPEN_STATES

if TYPE_CHECKING:
    from temporalio.api.failure.v1 import Failure
    from temporalio.api.workflow.v1 import PendingActivityInfo

MOST_ACTIVITIES = 20
TIMED_OUT = "activity_timeout"
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,79}")


@dataclass(frozen=True, slots=True)
class SeenActivity:
    """One activity that is not done; ``error_code`` is the type of its last failure, never its text."""

    activity_type: str
    attempt: int
    maximum_attempts: int
    state: str
    error_code: str = ""
    next_attempt_at: datetime | None = None


def read_pending(infos: Sequence["PendingActivityInfo"]) -> tuple[SeenActivity, ...]:
    """From a run's description; what has failed before comes first where there are too many."""
    ordered = sorted(infos, key=lambda info: -info.attempt)[:MOST_ACTIVITIES]
    return tuple(_read(info) for info in ordered)


def _read(info: "PendingActivityInfo") -> SeenActivity:
    from temporalio.api.enums.v1 import PendingActivityState

    states = {
        PendingActivityState.PENDING_ACTIVITY_STATE_STARTED: "running",
        PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED: "stopping",
    }
    waits = info.HasField("next_attempt_schedule_time")
    return SeenActivity(
        info.activity_type.name[:80],
        info.attempt,
        info.maximum_attempts,
        states.get(info.state, "waiting"),
        _read_code(info.last_failure) if info.HasField("last_failure") else "",
        info.next_attempt_schedule_time.ToDatetime(UTC) if waits else None,
    )


def _read_code(failure: "Failure") -> str:
    from temporalio.api.enums.v1 import TimeoutType

    if failure.HasField("timeout_failure_info"):
        silent = failure.timeout_failure_info.timeout_type == TimeoutType.TIMEOUT_TYPE_HEARTBEAT
        return ErrorCode.WORKER_SHUTDOWN if silent else TIMED_OUT
    code = failure.application_failure_info.type
    return code if _CODE.fullmatch(code) else ErrorCode.INTERNAL


def record_pending(seen: Mapping[str, Sequence[SeenActivity]], *, observed_at: datetime) -> None:
    """Replace what was seen of these runs, by run ID. One that has ended meanwhile, or that another worker has seen
    later, is left as it is. No network call is open here."""
    if not seen:
        return
    with writer():
        going_on = WorkflowRunProjection.objects.filter(run_id__in=list(seen), status__in=OPEN_STATES)
        later = PendingActivity.objects.filter(run_id__in=list(seen), observed_at__gt=observed_at)
        known = set(going_on.values_list("run_id", flat=True)) - set(later.values_list("run_id", flat=True))
        PendingActivity.objects.filter(run_id__in=known).delete()
        PendingActivity.objects.bulk_create(
            PendingActivity(
                run_id=run_id,
                activity_type=activity.activity_type,
                attempt=activity.attempt,
                maximum_attempts=activity.maximum_attempts,
                state=activity.state,
                error_code=activity.error_code,
                next_attempt_at=activity.next_attempt_at,
                observed_at=observed_at,
            )
            for run_id in sorted(known)
            for activity in seen[run_id]
        )


def forget_pending(run_id: str) -> None:
    """What an ended run had pending. Joins the caller's ``writer()``."""
    PendingActivity.objects.filter(run_id=run_id).delete()
