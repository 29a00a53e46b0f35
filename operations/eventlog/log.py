"""Appending to and reading from ``job_events``."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from operations.database import require_write, uses_postgres
from operations.eventlog.registry import Event, LoggedEvent, Payload, find_event_type, raise_to_current, serialise
from operations.records import dump_records

_COLUMNS = "tenant_id, event_type, version, typed, job_id, workflow_id, run_id, event_key, payload, recorded_at"
_ROW = "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_CONFLICT = "ON CONFLICT (tenant_id, event_key) WHERE event_key IS NOT NULL DO NOTHING"
_INSERT = f"INSERT INTO job_events ({_COLUMNS}) VALUES {_ROW} {_CONFLICT} RETURNING id"
_RECORD = (
    "tenant_id varchar, event_type varchar, version smallint, typed boolean, job_id uuid, workflow_id varchar, "
    "run_id varchar, event_key varchar, payload text, recorded_at timestamptz"
)
_INSERT_RECORDS = (
    f"INSERT INTO job_events ({_COLUMNS}) SELECT {_COLUMNS.replace('payload', 'payload::jsonb')} "
    f"FROM json_to_recordset(%s::json) AS new ({_RECORD}) {_CONFLICT} RETURNING id, event_key"
)
INSERT_LIMIT = 250  # rows in one statement
_READ = (
    "SELECT id, event_type, version, tenant_id, job_id, workflow_id, run_id, payload, recorded_at "
    "FROM job_events WHERE id > %s AND typed ORDER BY id LIMIT %s"
)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


def append(payload: Event, *, key: str | None = None) -> LoggedEvent | None:
    """Append one typed event inside ``writer()``; it is folded when the outermost block ends.

    ``key`` is its exact execution/event key: a second append under one key does nothing and
    returns ``None``, so a repeated lifecycle write is safe. Raises ``RuntimeError`` outside of
    ``writer()`` and ``ValueError`` for an unbounded field.
    """
    write = require_write()
    logged = _insert(_draft(payload, key))
    if logged is not None:
        write.events.append(logged)
    return logged


def append_all(payloads: Sequence[Event], *, keys: Sequence[str | None] = ()) -> list[LoggedEvent | None]:
    """As ``append`` for each payload in turn, in few statements. ``keys``, where given, has one entry a payload."""
    write = require_write()
    wanted = keys or [None] * len(payloads)
    rows = [_draft(payload, key) for payload, key in zip(payloads, wanted, strict=True)]
    logged: list[LoggedEvent | None] = []
    for start in range(0, len(rows), INSERT_LIMIT):
        logged.extend(_insert_all(rows[start : start + INSERT_LIMIT]))
    write.events.extend(event for event in logged if event is not None)
    return logged


def append_marker(name: str, *, job_id: UUID | None, body: Payload) -> None:
    """Append a marker row (``StageQueued``): shown by the audit, skipped by folds and the public stream."""
    require_write()
    if find_event_type(name) is not None:
        raise ValueError(f"{name} is a typed event; append it with append()")
    _insert(_Draft(name, 1, {**body, "jobId": str(job_id) if job_id else None}, key=None, typed=False))


class _Draft:
    """A row of the log before it has an id."""

    def __init__(self, name: str, version: int, body: Payload, *, key: str | None, typed: bool = True) -> None:
        self.name, self.body, self.key = name, body, key
        self.job_id = UUID(body["jobId"]) if body.get("jobId") else None
        self.workflow_id, self.run_id = str(body.get("workflowId") or ""), str(body.get("runId") or "")
        self.recorded_at = timezone.now()
        self.values: list[Any] = [
            settings.TENANT_ID,
            name,
            version,
            typed,
            _adapt_uuid(self.job_id),
            self.workflow_id,
            self.run_id,
            key,
            _encode(body),
            _adapt_time(self.recorded_at),
        ]

    def to_event(self, identifier: int) -> LoggedEvent:
        return LoggedEvent(
            identifier,
            self.name,
            settings.TENANT_ID,
            self.job_id,
            self.workflow_id,
            self.run_id,
            self.body,
            self.recorded_at,
        )


def _draft(payload: Event, key: str | None) -> _Draft:
    body = serialise(payload)  # first: it refuses what is not registered
    return _Draft(payload.type_name, payload.schema_version, body, key=key)


def _insert(draft: _Draft) -> LoggedEvent | None:
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, draft.values)
        row = cursor.fetchone()
    return None if row is None else draft.to_event(int(row[0]))


def _insert_all(drafts: Sequence[_Draft]) -> list[LoggedEvent | None]:
    """Both databases give ids in the order of the rows; a key that was there already gets none."""
    if len(drafts) == 1:
        return [_insert(drafts[0])]
    values = [draft.values for draft in drafts]
    with connection.cursor() as cursor:
        if uses_postgres():  # a statement that stays the same, however many rows it writes
            cursor.execute(_INSERT_RECORDS, [dump_records(_COLUMNS.split(", "), values)])
        else:
            rows = ", ".join([_ROW] * len(drafts))
            statement = f"INSERT INTO job_events ({_COLUMNS}) VALUES {rows} {_CONFLICT} RETURNING id, event_key"
            cursor.execute(statement, [value for row in values for value in row])
        stored = sorted(cursor.fetchall())
    if len(stored) == len(drafts):
        return [draft.to_event(int(row[0])) for draft, row in zip(drafts, stored, strict=True)]
    ids = iter(int(row[0]) for row in stored)
    fresh = {row[1] for row in stored}
    logged: list[LoggedEvent | None] = []
    for draft in drafts:
        is_new = draft.key is None or draft.key in fresh
        logged.append(draft.to_event(next(ids)) if is_new else None)
        fresh.discard(draft.key)
    return logged


def _adapt_uuid(value: UUID | None) -> object:
    if value is None or uses_postgres():
        return value
    return value.hex


def _adapt_time(value: datetime) -> object:
    if uses_postgres():
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
