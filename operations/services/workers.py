"""Rows that workers leave behind."""

from datetime import timedelta

from django.utils import timezone

from operations.database import writer
from operations.models import WorkerRuntimeHeartbeat


def prune_heartbeats(*, older_than: timedelta) -> int:
    """Forget workers that nobody has heard of for so long; runtime rows prove nothing durable."""
    with writer():
        removed, _ = WorkerRuntimeHeartbeat.objects.filter(last_seen_at__lt=timezone.now() - older_than).delete()
    return removed
