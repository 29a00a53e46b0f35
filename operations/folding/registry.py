"""Projection tables and their folds, declared by each app's ``projections.py``.

A fold changes one row for one event and nothing else: it never reads the clock, the database or
a service, so live folding, catching up and rebuilding give the same rows. What it takes from an
event's payload it copies or leaves as it is: other rows may hold the same object.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import models

from operations.eventlog.registry import LoggedEvent
from operations.folding.table import CompiledTable

Row = Any
Fold = Callable[[Row, LoggedEvent], None]
KeyOf = Callable[[LoggedEvent], object]


@dataclass(frozen=True, slots=True)
class FoldRule:
    key_of: KeyOf
    apply: Fold
    reads: frozenset[str]


class ProjectionTable:
    """One projection: its table, and for each event type which row it touches and how."""

    def __init__(self, model: type[models.Model], *, key_of: KeyOf) -> None:
        self.compiled = CompiledTable(model)
        self.app = model._meta.app_label
        self.name = model._meta.db_table
        self.key_of = key_of
        self.rules: dict[str, FoldRule] = {}


_tables: dict[str, ProjectionTable] = {}


def project(model: type[models.Model], *, key_of: KeyOf) -> ProjectionTable:
    """Declare a projection table; ``key_of`` gives the primary key of the row that an event touches."""
    table = ProjectionTable(model, key_of=key_of)
    if table.name in _tables:
        raise ValueError(f"projection {table.name} is declared twice")
    _tables[table.name] = table
    return table


def fold(table: ProjectionTable, *event_types: str, reads: tuple[str, ...] = ()) -> Callable[[Fold], Fold]:
    """Declare how these event types change a row; ``reads`` lists the payload fields used (JSON names)."""

    def register(function: Fold) -> Fold:
        for name in event_types:
            if name in table.rules:
                raise ValueError(f"{table.name} has two folds for {name}")
            table.rules[name] = FoldRule(table.key_of, function, frozenset(reads))
        return function

    return register


def list_tables(app: str | None = None) -> list[ProjectionTable]:
    return [table for table in _tables.values() if app is None or table.app == app]


def list_apps() -> list[str]:
    return sorted({table.app for table in _tables.values()})
