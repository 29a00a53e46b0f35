"""Reads of the workers' heartbeats."""

from datetime import datetime, timedelta

from django.utils import timezone

from operations.contracts import HEARTBEAT_FRESH_SECONDS
from operations.models import WorkerRuntimeHeartbeat


def has_worker_begun_since(moment: datetime) -> bool:
    """Whether a worker that started after then has been heard of: none that was there before stands in for it."""
    return WorkerRuntimeHeartbeat.objects.filter(started_at__gte=moment, stopped_at__isnull=True).exists()


def find_fresh_worker() -> datetime | None:
    """When a worker of this workspace was last seen, if within 45 seconds and not stopped since."""
    since = timezone.now() - timedelta(seconds=HEARTBEAT_FRESH_SECONDS)
    return (
        WorkerRuntimeHeartbeat.objects.filter(last_seen_at__gte=since, stopped_at__isnull=True)
        .order_by("-last_seen_at")
        .values_list("last_seen_at", flat=True)
        .first()
    )
