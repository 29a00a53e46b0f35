"""Appending to and reading from ``job_events``."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from operations.database import require_write
from operations.eventlog.registry import Event, LoggedEvent, Payload, find_event_type, raise_to_current, serialise

_COLUMNS = "tenant_id, event_type, version, typed, job_id, workflow_id, run_id, event_key, payload, recorded_at"
_INSERT = (
    f"INSERT INTO job_events ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) "
    "ON CONFLICT (tenant_id, event_key) WHERE event_key IS NOT NULL DO NOTHING RETURNING id"
)
_READ = (
    "SELECT id, event_type, version, tenant_id, job_id, workflow_id, run_id, payload, recorded_at "
    "FROM job_events WHERE id > %s AND typed ORDER BY id LIMIT %s"
)
_decode = json.JSONDecoder().decode


def append(payload: Event, *, key: str | None = None) -> LoggedEvent | None:
    """Append one typed event inside ``writer()``; it is folded when the outermost block ends.

    ``key`` is its exact execution/event key: a second append under one key does nothing and
    returns ``None``, so a repeated lifecycle write is safe. Raises ``RuntimeError`` outside of
    ``writer()`` and ``ValueError`` for an unbounded field.
    """
    write = require_write()
    body = serialise(payload)
    logged = _insert(payload.type_name, payload.schema_version, body, typed=True, key=key)
    if logged is not None:
        write.events.append(logged)
    return logged


def append_marker(name: str, *, job_id: UUID | None, body: Payload) -> None:
    """Append a marker row (``StageQueued``): shown by the audit, skipped by folds and the public stream."""
    require_write()
    if find_event_type(name) is not None:
        raise ValueError(f"{name} is a typed event; append it with append()")
    _insert(name, 1, {**body, "jobId": str(job_id) if job_id else None}, typed=False, key=None)


def _insert(name: str, version: int, body: Payload, *, typed: bool, key: str | None) -> LoggedEvent | None:
    job_id = UUID(body["jobId"]) if body.get("jobId") else None
    now = timezone.now()
    values: list[Any] = [
        settings.TENANT_ID,
        name,
        version,
        typed,
        _adapt_uuid(job_id),
        body.get("workflowId") or "",
        body.get("runId") or "",
        key,
        json.dumps(body, ensure_ascii=False, separators=(",", ":")),
        _adapt_time(now),
    ]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, values)
        row = cursor.fetchone()
    if row is None:
        return None
    return LoggedEvent(int(row[0]), name, settings.TENANT_ID, job_id, str(values[5]), str(values[6]), body, now)


def _adapt_uuid(value: UUID | None) -> object:
    if value is None or connection.vendor == "postgresql":
        return value
    return value.hex


def _adapt_time(value: datetime) -> object:
    if connection.vendor == "postgresql":
        return value
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def read_head() -> int:
    """The id of the newest row, 0 for an empty log."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT COALESCE(MAX(id), 0) FROM job_events")
        return int(cursor.fetchone()[0])


def read_after(after: int, *, limit: int = 1000) -> list[LoggedEvent]:
    """The next typed events after an id, oldest first; one bounded page."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, [after, limit])
        return [_to_event(row) for row in cursor.fetchall()]


def iter_after(after: int, *, until: int, page: int = 5000) -> Iterator[list[LoggedEvent]]:
    """Pages of typed events with ``after < id <= until``; no transaction is held between pages."""
    while True:
        events = read_after(after, limit=page)
        if events and events[-1].id > until:
            events = [event for event in events if event.id <= until]
        if not events:
            return
        yield events
        after = events[-1].id


def _to_event(row: tuple[Any, ...]) -> LoggedEvent:
    identifier, name, version, tenant_id, job_id, workflow_id, run_id, payload, recorded_at = row
    body: Payload = _decode(payload) if isinstance(payload, str) else payload
    if version != 1 or (declared := find_event_type(name)) is None or declared.version != 1:
        body = raise_to_current(name, version, body)
    if isinstance(job_id, str):
        job_id = UUID(hex=job_id)
    if isinstance(recorded_at, str):
        recorded_at = datetime.fromisoformat(recorded_at)
    if recorded_at.tzinfo is None:
        recorded_at = recorded_at.replace(tzinfo=UTC)
    return LoggedEvent(identifier, name, tenant_id, job_id, workflow_id, run_id, body, recorded_at)
