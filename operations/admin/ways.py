"""Ways into a table: what an operator looks rows up by, each one answered from an index."""

import re
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Q

SHORTEST_BEGINNING: Final = 4
LONGEST_TEXT: Final = 300
_BEGINNING_OF_ID = re.compile(r"[0-9a-fA-F-]{4,35}")
_LARGEST_NUMBER: Final = 2**63 - 1

NUMBER = "number"
ID = "id"
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Narrowed:
    """``order`` are the columns, all descending, in which the index gives the rows that ``condition`` leaves."""

    condition: Q
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """``name`` is the parameter of links (``?job_id=…``), the same in every table; ``column`` is this table's.

    ``beginnings`` is the order of a look-up by the first characters; () = only whole values are looked up.
    ``skips_empty``: the index leaves "" out. ``of_tenant``: the index is led by the tenant. ``ends_with`` closes
    the first part of a composed key.
    """

    name: str
    column: str
    kind: str
    order: tuple[str, ...]
    beginnings: tuple[str, ...] = ()
    skips_empty: bool = False
    of_tenant: bool = False
    ends_with: str = ""

    @property
    def label(self) -> str:
        words = "id" if self.column == "id" else self.column.replace("_", " ")
        return f"{words} (or how it begins)" if self.beginnings and not self.ends_with else words

    def find(self, term: str) -> Narrowed | None:
        """The rows with exactly this value; ``None`` where it cannot be one."""
        if self.ends_with:
            return self.find_beginning(term + self.ends_with)
        value = read_value(self.kind, term)
        if value is None:
            return None
        condition = Q(**{self.column: value})
        if self.skips_empty:
            condition &= ~Q(**{self.column: ""})
        if self.of_tenant:
            condition &= Q(tenant_id=settings.TENANT_ID)
        return Narrowed(condition, self.order)

    def find_beginning(self, term: str) -> Narrowed | None:
        """The rows whose value begins so; ``None`` where this way has no such look-up."""
        if not self.beginnings or self.kind == NUMBER:
            return None
        build = begin_id if self.kind == ID else begin_text
        condition = build(self.column, term.strip())
        return None if condition is None else Narrowed(condition, self.beginnings)


def read_value(kind: str, term: str) -> Any:
    """``None`` for a text that is no value of this kind."""
    term = term.strip()
    if kind == NUMBER:
        is_number = term.isascii() and term.isdigit() and len(term) <= 19
        return int(term) if is_number and int(term) <= _LARGEST_NUMBER else None
    if kind == ID:
        try:
            return UUID(term)
        except ValueError:
            return None
    return term if 0 < len(term) <= LONGEST_TEXT and "\x00" not in term else None


def begin_id(column: str, term: str) -> Q | None:
    """A range of ids, which both databases answer from the index of the column."""
    digits = term.replace("-", "")
    if not _BEGINNING_OF_ID.fullmatch(term) or not SHORTEST_BEGINNING <= len(digits) < 32:
        return None
    low, high = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    return Q(**{f"{column}__gte": low, f"{column}__lte": high})


def begin_text(column: str, term: str) -> Q | None:
    """SQLite never uses an index for LIKE ... ESCAPE, but compares bytes; PostgreSQL has an index for LIKE."""
    if not SHORTEST_BEGINNING <= len(term) <= LONGEST_TEXT or "\x00" in term:
        return None
    if connection.vendor == "postgresql":
        return Q(**{f"{column}__startswith": term})
    return Q(**{f"{column}__gte": term, f"{column}__lt": term + "\U0010ffff"})


def job_way(column: str = "job_id", *, then: str = "id", home: bool = False) -> Way:
    """By job. ``then`` is the column behind the job in the index; ``home``: the job is this table's key."""
    if home:
        return Way("job_id", column, ID, (column,), beginnings=(column,))
    return Way("job_id", column, ID, (then,))
