"""Reads of the workers' heartbeats."""

import os
from datetime import datetime, timedelta

from django.db import models
from django.utils import timezone

from operations.contracts import HEARTBEAT_FRESH_SECONDS
from operations.models import WorkerRuntimeHeartbeat


def has_worker_begun_since(moment: datetime) -> bool:
    """Whether a worker that started after then has been heard of: none that was there before stands in for it."""
    return WorkerRuntimeHeartbeat.objects.filter(started_at__gte=moment, stopped_at__isnull=True).exists()


def is_worker_heard_of(process_id: int) -> bool:
    """Whether that process of this machine said within 45 seconds that it works, and has not stopped since."""
    return _list_fresh().filter(worker_id__startswith=build_worker_prefix(process_id)).exists()


def build_worker_prefix(process_id: int) -> str:
    """How the ids of this machine's workers with that process id begin."""
    return f"{os.uname().nodename[:40]}-{process_id}-"


def find_fresh_worker() -> datetime | None:
    """When a worker of this workspace was last seen, if within 45 seconds and not stopped since."""
    return _list_fresh().order_by("-last_seen_at").values_list("last_seen_at", flat=True).first()


def _list_fresh() -> models.QuerySet[WorkerRuntimeHeartbeat]:
    since = timezone.now() - timedelta(seconds=HEARTBEAT_FRESH_SECONDS)
    return WorkerRuntimeHeartbeat.objects.filter(last_seen_at__gte=since, stopped_at__isnull=True)
