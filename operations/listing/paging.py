"""Key-based paging: a cursor holds the sort key of the last row shown, never an offset."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Model, QuerySet

PAGE_SIZE = 50
LARGEST_PAGE = 200
EXPORT_LIMIT = 10_000

NOT_OURS = {"cursor": "it is not one that this list gave; start from the first page"}

M = TypeVar("M", bound=Model)
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Page(Generic[M]):
    """One page of rows. ``next_cursor`` is "" on the last one; ``notes`` say what the list leaves out."""

    rows: Sequence[M]
    next_cursor: str = ""
    notes: tuple[str, ...] = field(default=())


class BadQuery(ValueError):
    """A list was asked for in a way it does not know; ``errors`` maps each field to its reason."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{name}: {reason}" for name, reason in self.errors.items()))


def read_page(
    rows: QuerySet[M],
    *,
    order: Sequence[str],
    cursor: str,
    limit: int = PAGE_SIZE,
    notes: tuple[str, ...] = (),
    ascending: bool = False,
) -> Page[M]:
    """The next rows in descending order of ``order``, the columns of an index that ends in a unique one.

    Raises ``BadQuery`` for a cursor that is not one of ours.
    """
    limit = max(1, min(limit, LARGEST_PAGE))
    if cursor:
        rows = continue_after(rows, order, cursor, ascending=ascending)
    sign = "" if ascending else "-"
    found = list(rows.order_by(*(f"{sign}{name}" for name in order))[: limit + 1])
    more = len(found) > limit
    shown = found[:limit]
    last = encode_cursor([getattr(shown[-1], name) for name in order]) if more else ""
    return Page(shown, last, notes)


def read_merged_page(
    parts: Sequence[QuerySet[M]],
    *,
    order: Sequence[str],
    cursor: str,
    limit: int,
    notes: tuple[str, ...] = (),
    ascending: bool = False,
) -> Page[M]:
    """``read_page`` over disjoint querysets; one statement each."""
    limit = max(1, min(limit, LARGEST_PAGE))
    pages = [read_page(part, order=order, cursor=cursor, limit=limit, ascending=ascending) for part in parts]
    found = sorted(
        (row for page in pages for row in page.rows),
        key=lambda row: tuple(getattr(row, name) for name in order),
        reverse=not ascending,
    )
    shown = found[:limit]
    more = len(found) > limit or any(page.next_cursor for page in pages)
    last = encode_cursor([getattr(shown[-1], name) for name in order]) if more else ""
    return Page(shown, last, notes)


def continue_after(rows: QuerySet[M], order: Sequence[str], cursor: str, *, ascending: bool = False) -> QuerySet[M]:
    """A row-value comparison, which both databases answer from the index; the ORM has no expression for it."""
    key = decode_cursor(cursor, width=len(order))
    table = rows.model._meta.db_table
    fields: list[Any] = [rows.model._meta.get_field(name) for name in order]
    columns = ", ".join(f"{table}.{f.column}" for f in fields)
    marks = ", ".join(["%s"] * len(fields))
    try:
        values = [f.get_db_prep_value(f.to_python(value), connection) for f, value in zip(fields, key, strict=True)]
    except (ValidationError, ValueError, TypeError, OverflowError):
        raise BadQuery(NOT_OURS) from None
    return rows.extra(where=[f"({columns}) {'>' if ascending else '<'} ({marks})"], params=values)


def encode_cursor(values: Sequence[Any]) -> str:
    plain = [_to_plain(value) for value in values]
    return base64.urlsafe_b64encode(json.dumps(plain, separators=(",", ":")).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, *, width: int) -> Key:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        plain = json.loads(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))
        if not isinstance(plain, list) or len(plain) != width:
            raise ValueError
        return tuple(_from_plain(value) for value in plain)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, binascii.Error, RecursionError):
        raise BadQuery(NOT_OURS) from None


def _to_plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"t": value.astimezone(UTC).isoformat()}
    if isinstance(value, UUID):
        return {"u": value.hex}
    return value


def _from_plain(value: Any) -> Any:
    if isinstance(value, dict):
        if "t" in value:
            moment = datetime.fromisoformat(value["t"])
            if moment.tzinfo is None:
                raise ValueError
            return moment.astimezone(UTC)
        return UUID(hex=value["u"])
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError
    if isinstance(value, str) and not is_storable(value):
        raise ValueError
    if isinstance(value, int) and not -(2**31) <= value < 2**63:
        raise ValueError
    return value


def is_storable(text: str) -> bool:
    """Whether a database takes it: PostgreSQL refuses NUL, and no encoding has half of a surrogate pair."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


class QueryReader:
    """Reads whitelisted fields of a query string and gathers every problem before refusing."""

    def __init__(self, params: Mapping[str, str]) -> None:
        self.params = params
        self.errors: dict[str, str] = {}

    def text(self, name: str, *, limit: int = 200) -> str:
        value = self.params.get(name, "").strip()
        if len(value) > limit:
            self.errors[name] = f"it is longer than {limit} characters"
            return ""
        if not is_storable(value):
            self.errors[name] = "it holds a NUL character or half of a surrogate pair"
            return ""
        return value

    def choice(self, name: str, choices: Sequence[str], *, default: str = "") -> str:
        value = self.params.get(name, "").strip()
        if not value:
            return default
        if value not in choices:
            self.errors[name] = f"it is none of {', '.join(choices)}"
            return default
        return value

    def integer(self, name: str, low: int, high: int) -> int | None:
        value = self.params.get(name, "").strip()
        if not value:
            return None
        if not value.isascii() or not value.isdigit() or len(value) > 10 or not low <= int(value) <= high:
            self.errors[name] = f"it is not a whole number from {low} to {high}"
            return None
        return int(value)

    def uuid(self, name: str) -> UUID | None:
        value = self.params.get(name, "").strip()
        if not value:
            return None
        try:
            return UUID(value)
        except ValueError:
            self.errors[name] = "it is not an id"
            return None

    def moment(self, name: str) -> datetime | None:
        value = self.params.get(name, "").strip()
        if not value:
            return None
        try:
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.errors[name] = "it is not a date, or a date and time, such as 2026-11-29"
            return None

    def finish(self) -> None:
        if self.errors:
            raise BadQuery(self.errors)
