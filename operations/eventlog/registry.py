"""Event types, each declared once by the app that emits it.

A payload holds ids, codes, counts and bounded names. Prompts, posting texts, contact values,
drafts, credentials and exception texts have no field to live in: strings are bounded here.
"""

import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, TypeVar, dataclass_transform
from uuid import UUID

TEXT_LIMIT = 400
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
LIST_LIMIT = 200

JsonValue = Any
Payload = dict[str, JsonValue]


class UnknownEvent(LookupError):
    """No such event type is registered."""


class Event:
    """Base of every payload. ``type_name`` and ``schema_version`` are set by ``@event``."""

    type_name: ClassVar[str]
    schema_version: ClassVar[int]
    __slots__ = ()


class JobEvent(Event):
    """An event about one job; carries ``job_id``."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One row of the log as folds and readers see it: the payload already at its newest version."""

    id: int
    type: str
    tenant_id: str
    job_id: UUID | None
    workflow_id: str
    run_id: str
    payload: Payload
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class EventType:
    name: str
    version: int
    payload_class: type[Event]
    fields: tuple[tuple[str, str], ...]  # (python name, JSON name)

    @property
    def json_fields(self) -> frozenset[str]:
        return frozenset(json_name for _, json_name in self.fields)


_types: dict[str, EventType] = {}
_upcasters: dict[tuple[str, int], Callable[[Payload], Payload]] = {}

T = TypeVar("T", bound=Event)


def to_camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def event(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Register a payload class under its public name; makes it a frozen, keyword-only dataclass."""

    def register(cls: type[T]) -> type[T]:
        if name in _types:
            raise ValueError(f"event type {name} is declared twice")
        cls.type_name, cls.schema_version = name, version
        frozen = dataclass(frozen=True, kw_only=True)(cls)
        fields = tuple((f.name, to_camel(f.name)) for f in dataclasses.fields(frozen))  # type: ignore[arg-type]
        if len({json_name for _, json_name in fields}) < len(fields):
            raise ValueError(f"two fields of {name} share a JSON name: {', '.join(json for _, json in fields)}")
        _types[name] = EventType(name, version, frozen, fields)
        return frozen

    return register


def upcaster(name: str, *, from_version: int) -> Callable[[Callable[[Payload], Payload]], Callable[[Payload], Payload]]:
    """Register the step that turns a payload of ``from_version`` into the next version."""

    def register(step: Callable[[Payload], Payload]) -> Callable[[Payload], Payload]:
        if (name, from_version) in _upcasters:
            raise ValueError(f"two upcasters for {name} version {from_version}")
        _upcasters[name, from_version] = step
        return step

    return register


def find_event_type(name: str) -> EventType | None:
    return _types.get(name)


def list_event_types() -> Mapping[str, EventType]:
    return types.MappingProxyType(_types)


def raise_to_current(name: str, version: int, payload: Payload) -> Payload:
    """Apply the upcasters between the stored and the registered version, one step at a time."""
    declared = _types.get(name)
    if declared is None or version >= declared.version:
        return payload
    for step in range(version, declared.version):
        payload = _upcasters[name, step](payload)
    return payload


def serialise(payload: Event) -> Payload:
    """The camelCase JSON form. Raises ``ValueError`` naming a field that is unbounded or not JSON."""
    declared = _types.get(getattr(payload, "type_name", ""))
    if declared is None or not isinstance(payload, declared.payload_class):
        raise UnknownEvent(f"{type(payload).__name__} is not a registered event")
    return {json_name: _to_json(json_name, getattr(payload, name)) for name, json_name in declared.fields}


def _to_json(field: str, value: object) -> JsonValue:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, str):
        if len(value) > TEXT_LIMIT:
            raise ValueError(f"event field {field} holds {len(value)} characters; the limit is {TEXT_LIMIT}")
        if _UNSTORABLE.search(value):
            raise ValueError(f"event field {field} holds a NUL or half a character, which PostgreSQL cannot store")
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, tuple | list):
        if len(value) > LIST_LIMIT:
            raise ValueError(f"event field {field} holds {len(value)} items; the limit is {LIST_LIMIT}")
        return [_to_json(field, item) for item in value]
    if isinstance(value, dict):
        if len(value) > LIST_LIMIT:
            raise ValueError(f"event field {field} holds {len(value)} entries; the limit is {LIST_LIMIT}")
        return {str(key): _to_json(field, item) for key, item in value.items()}
    raise ValueError(f"event field {field} holds a {type(value).__name__}, which is not JSON")


def describe_fields(payload_class: type[Event]) -> dict[str, object]:
    """Names and types of a payload's fields, for documentation and tests."""
    return typing.get_type_hints(payload_class)
