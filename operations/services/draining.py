"""Asking the workers to stop taking work for a moment, so that a backup's two databases fit together.

A lease and not a switch: whoever asked may be killed, and then the workers go on by themselves.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from operations.contracts import HEARTBEAT_FRESH_SECONDS
from operations.database import writer
from operations.models import WorkerRuntimeHeartbeat
from operations.settings_store import read_marker, store_marker

MARKER = "drain"
LEASE_SECONDS = 60


def ask_to_drain(*, now: datetime) -> str:
    """Begin a drain; returns its token. A drain that another process asked for is taken over."""
    token = uuid4().hex
    store_marker(MARKER, {"token": token, "until": _lease(now), "drained": []})
    return token


def renew_drain(token: str, *, now: datetime) -> None:
    _change(token, lambda drain: {**drain, "until": _lease(now)})


def confirm_drained(token: str, *, worker_id: str) -> None:
    """A worker says that it finished what it had and takes nothing new. Idempotent."""
    _change(token, lambda drain: {**drain, "drained": sorted({*drain["drained"], worker_id})})


def end_drain(token: str) -> None:
    """Idempotent; a drain that somebody else asked for since is left alone."""
    _change(token, lambda _: {})


def forget_drain() -> None:
    """Whoever asked for it is gone for certain: this database was just restored."""
    store_marker(MARKER, {})


def find_drain(*, now: datetime) -> str:
    """The token of the drain that workers must honour now, else ""; one index lookup."""
    drain = read_marker(MARKER, default={})
    if not drain or datetime.fromisoformat(drain["until"]) < now:
        return ""
    return str(drain["token"])


def list_undrained(token: str, *, now: datetime) -> list[str]:
    """Workers that seem to live and have not confirmed this drain."""
    drain = read_marker(MARKER, default={})
    drained = set(drain["drained"]) if drain.get("token") == token else set()
    return [worker_id for worker_id in _list_living(now) if worker_id not in drained]


def count_drained(token: str) -> int:
    drain = read_marker(MARKER, default={})
    return len(drain["drained"]) if drain.get("token") == token else 0


def stop_heartbeats() -> None:
    """The workers of these rows are gone for certain: this database was just restored."""
    with writer():
        WorkerRuntimeHeartbeat.objects.filter(stopped_at__isnull=True).update(stopped_at=timezone.now())


def _list_living(now: datetime) -> list[str]:
    since = now - timedelta(seconds=HEARTBEAT_FRESH_SECONDS)
    rows = WorkerRuntimeHeartbeat.objects.filter(last_seen_at__gte=since, stopped_at__isnull=True)
    return list(rows.order_by("worker_id").values_list("worker_id", flat=True))


def _change(token: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    with writer():
        drain = read_marker(MARKER, default={})
        if drain.get("token") == token:
            store_marker(MARKER, change(drain))


def _lease(now: datetime) -> str:
    return (now + timedelta(seconds=LEASE_SECONDS)).isoformat()
