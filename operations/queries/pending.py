"""Reads of what open runs had pending when Temporal was last asked; an observation is believed for 45 seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from operations.contracts import HEARTBEAT_FRESH_SECONDS
from operations.models import PendingActivity

MOST_RETRYING = 1000


@dataclass(frozen=True, slots=True)
class PendingRow:
    """One activity that was not done when it was seen. ``is_fresh``: seen so lately that it may be told as so."""

    run_id: str
    activity_type: str
    attempt: int
    maximum_attempts: int
    state: str
    error_code: str
    next_attempt_at: datetime | None
    observed_at: datetime
    is_fresh: bool

    @property
    def is_retrying(self) -> bool:
        return self.attempt > 1


def list_pending(run_ids: Sequence[str]) -> list[PendingRow]:
    """Of these runs, the most tried first."""
    since = _since()
    rows = PendingActivity.objects.filter(run_id__in=run_ids)
    found = [
        PendingRow(
            row.run_id,
            row.activity_type,
            row.attempt,
            row.maximum_attempts,
            row.state,
            row.error_code,
            row.next_attempt_at,
            row.observed_at,
            row.observed_at >= since,
        )
        for row in rows
    ]
    return sorted(found, key=lambda row: (-row.attempt, row.activity_type))


def list_retrying_runs(*, limit: int = MOST_RETRYING) -> list[str]:
    """Runs that try an activity again now, as lately seen; an index range of the newest observations."""
    rows = PendingActivity.objects.filter(attempt__gt=1, observed_at__gte=_since()).order_by("-observed_at")
    return list(dict.fromkeys(rows.values_list("run_id", flat=True)[:limit]))


def _since() -> datetime:
    return timezone.now() - timedelta(seconds=HEARTBEAT_FRESH_SECONDS)
