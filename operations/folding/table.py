"""One projection table compiled once: its row class, select, upsert and value conversions."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import make_dataclass
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, models

from operations.database import uses_postgres
from operations.records import dump_records

Convert = Callable[[Any], Any]
Stored = Sequence[Any]  # a row's values as they were read; JSON as the database spells it
Written = tuple[str, Any, int]  # the table, the cursor that wrote to it, and to how many rows it should have


class RawJson(str):
    """A JSON value that nobody has asked for yet, as the database spells it."""

    __slots__ = ()


SELECT_LIMIT = 400  # keys in one statement; SQLite allows 32,766 parameters, PostgreSQL 65,535

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode
_decode = json.JSONDecoder().decode


def _same(value: Any) -> Any:
    return value


def _load_json(value: Any) -> Any:
    return _decode(value) if isinstance(value, str) else value


def _keep_json(value: Any) -> Any:
    return RawJson(value) if isinstance(value, str) else value


def _dump_json(value: Any) -> str:
    return value if type(value) is RawJson else _encode(value)


def _dump_time_sqlite(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def _load_time(value: Any) -> datetime | None:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if value is None or value.tzinfo is not None:
        return value  # type: ignore[no-any-return]
    return value.replace(tzinfo=UTC)  # type: ignore[no-any-return]


def _dump_uuid_sqlite(value: UUID | None) -> str | None:
    return None if value is None else value.hex


def _load_uuid(value: Any) -> UUID | None:
    return UUID(hex=value) if isinstance(value, str) else value


def _load_bool(value: Any) -> Any:
    return bool(value)


def _converters(field: "models.Field[Any, Any]") -> tuple[Convert, Convert, Convert]:
    """(to SQLite, to PostgreSQL, from either) for one column."""
    match field:
        case models.JSONField():
            return _dump_json, _dump_json, _load_json
        case models.DateTimeField():
            return _dump_time_sqlite, _same, _load_time
        case models.UUIDField():
            return _dump_uuid_sqlite, _same, _load_uuid
        case models.BooleanField():
            return _same, _same, _load_bool
    return _same, _same, _same


def _make_row_class(name: str, fields: "Sequence[models.Field[Any, Any]]") -> tuple[type[Any], tuple[str, ...]]:
    """A slotted class with one attribute a field, and the names of its slots in the order of ``fields``.

    JSON is read when it is first asked for: most events touch one of a row's documents, and the others are neither
    taken apart nor put together again.
    """
    slots = tuple(f"raw_{f.attname}" if isinstance(f, models.JSONField) else f.attname for f in fields)
    base = make_dataclass(f"{name}Values", slots, slots=True, eq=False, repr=False)
    documents = {
        field.attname: _make_document(getattr(base, slot))
        for field, slot in zip(fields, slots, strict=True)
        if isinstance(field, models.JSONField)
    }
    return type(f"{name}Row", (base,), {"__slots__": (), **documents}), slots


def _make_document(slot: Any) -> property:
    def read(row: Any) -> Any:
        value = slot.__get__(row)
        if type(value) is RawJson:
            value = _decode(value)
            slot.__set__(row, value)
        return value

    return property(read, slot.__set__)


def check_written(writes: Iterable[Written]) -> None:
    """Raises ``DatabaseError`` where a row was gone. Not before the block ``in_one_trip`` that wrote has ended."""
    for table, cursor, wanted in writes:
        with cursor:
            found = cursor.rowcount
        if found != wanted:
            raise DatabaseError(f"a row of {table} that was to be written is gone")


class CompiledTable:
    """Reads and writes rows of one projection as slotted objects, without the ORM's overhead."""

    def __init__(self, model: type[models.Model]) -> None:
        fields = list(model._meta.concrete_fields)
        self._fields = fields
        self.table = model._meta.db_table
        self.columns = tuple(str(field.column) for field in fields)
        self.key = str(model._meta.pk.column)
        self.key_index = self.columns.index(self.key)
        self._key_is_varying = isinstance(model._meta.pk, models.CharField)
        self._defaults = tuple((f.attname, f.default) for f in fields if f.has_default())
        self._nulls = tuple(f.attname for f in fields if not f.has_default() and not f.primary_key)
        self.row_class, slots = _make_row_class(model.__name__, fields)
        self.attributes = tuple(f.attname for f in fields)
        self._positions = {name: position for position, name in enumerate(self.attributes)}
        pairs = [_converters(field) for field in fields]
        self._to_sqlite = tuple(pair[0] for pair in pairs)
        self._to_postgres = tuple(pair[1] for pair in pairs)
        self._from_db = tuple(pair[2] for pair in pairs)
        self._json_columns = frozenset(f.column for f in fields if isinstance(f, models.JSONField))
        self._is_json = tuple(isinstance(field, models.JSONField) for field in fields)
        self._keep_from_db = tuple(_keep_json if load is _load_json else load for load in self._from_db)
        self._read_values = attrgetter(*slots)

    def new_row(self, key: object, tenant_id: str) -> Any:
        """A row as the model's defaults say, before its first event."""
        values: dict[str, Any] = dict.fromkeys(self._nulls)
        values.update((name, default() if callable(default) else default) for name, default in self._defaults)
        values[self.attributes[self.key_index]] = key
        values["tenant_id"] = tenant_id
        return self.row_class(*(values[name] for name in self.attributes))

    def _dumps(self) -> tuple[Convert, ...]:
        return self._to_postgres if uses_postgres() else self._to_sqlite

    def dump(self, name: str, value: object) -> Any:
        """One attribute's value as this database takes it."""
        return self._dumps()[self._positions[name]](value)

    def load_values(self, values: Sequence[Any]) -> list[Any]:
        return [load(value) for load, value in zip(self._from_db, values, strict=True)]

    def dump_key(self, key: object) -> Any:
        return self._dumps()[self.key_index](key)

    def ask(self, keys: Iterable[object], *, table: str | None = None) -> list[Any]:
        """Send for the stored rows among ``keys``; ``load`` reads them."""
        wanted = [self.dump_key(key) for key in keys]
        chosen = ", ".join(self._as_raw(column) for column in self.columns)
        statement = f"SELECT {chosen} FROM {table or self.table} WHERE {self.key} "
        asked = []
        for start in range(0, len(wanted), SELECT_LIMIT):
            part = wanted[start : start + SELECT_LIMIT]
            cursor = connection.cursor()
            asked.append(cursor)
            if uses_postgres():
                cursor.execute(f"{statement}= ANY(%s)", [part])
            else:
                cursor.execute(f"{statement}IN ({', '.join(['%s'] * len(part))})", part)
        return asked

    def load(self, asked: Iterable[Any]) -> Iterator[tuple[object, Any, Stored]]:
        """(key, row, what ``update_changed`` asks for) of the rows that were sent for."""
        for cursor in asked:
            with cursor:
                found = cursor.fetchall()
            for raw in found:
                values = [keep(value) for value, keep in zip(raw, self._keep_from_db, strict=True)]
                stored = [old if is_json else new for is_json, old, new in zip(self._is_json, raw, values, strict=True)]
                yield values[self.key_index], self.row_class(*values), stored

    def upsert(self, rows: Iterable[Any], *, table: str | None = None) -> None:
        dumps = self._dumps()
        self.upsert_values(
            [[dump(value) for dump, value in zip(dumps, self._read_values(row), strict=True)] for row in rows],
            table=table,
        )

    def update_changed(self, rows: Iterable[tuple[Any, Stored]]) -> "list[Written]":
        """Write of each row what differs from what ``load`` gave with it: one statement for rows that changed alike.

        PostgreSQL spells JSON in its own way, so there a document that was looked at is written; no index holds one.
        Each row must still be there, since only a fold writes here, and one at a time: ``check_written`` sees to it.
        """
        alike: dict[tuple[int, ...], list[list[Any]]] = {}
        dumps = self._dumps()
        for row, stored in rows:
            values = [
                dump(new) if is_json else new
                for is_json, dump, new in zip(self._is_json, dumps, self._read_values(row), strict=True)
            ]
            pairs = zip(stored, values, strict=True)
            changed = tuple(place for place, (old, new) in enumerate(pairs) if old is not new and old != new)
            if changed:
                written = [values[place] if self._is_json[place] else dumps[place](values[place]) for place in changed]
                alike.setdefault(changed, []).append([*written, dumps[self.key_index](values[self.key_index])])
        return [
            (self.table, self._update_values([self.columns[place] for place in changed], parameters), len(parameters))
            for changed, parameters in alike.items()
        ]

    def upsert_values(self, rows: Sequence[Sequence[Any]], *, table: str | None = None) -> None:
        if not rows:
            return
        updates = ", ".join(f"{c} = excluded.{c}" for c in self.columns if c != self.key)
        head = f"INSERT INTO {table or self.table} ({', '.join(self.columns)}) "
        tail = f" ON CONFLICT ({self.key}) DO UPDATE SET {updates}"
        with connection.cursor() as cursor:
            if uses_postgres():
                chosen = ", ".join(self._read_record(column) for column in self.columns)
                cursor.execute(
                    f"{head}SELECT {chosen} FROM {self._records(self.columns)}{tail}",
                    [dump_records(self.columns, rows)],
                )
            else:
                marks = ", ".join(["%s"] * len(self.columns))
                cursor.executemany(f"{head}VALUES ({marks}){tail}", rows)

    def update(self, rows: Sequence[Any], names: Sequence[str]) -> int:
        """Write some attributes of existing rows; returns how many were there."""
        dumps = [(self._dumps()[self._positions[name]], name) for name in (*names, self.attributes[self.key_index])]
        values = [[dump(getattr(row, name)) for dump, name in dumps] for row in rows]
        with self._update_values([self.columns[self._positions[name]] for name in names], values) as cursor:
            return int(cursor.rowcount)

    def _update_values(self, columns: Sequence[str], values: Sequence[Sequence[Any]]) -> Any:
        """``values`` in the order of ``columns``, each row's key last. The open cursor knows how many were there."""
        cursor = connection.cursor()
        if uses_postgres() and len(values) > 1:
            settings = ", ".join(f"{column} = {self._read_record(column)}" for column in columns)
            cursor.execute(
                f"UPDATE {self.table} SET {settings} FROM {self._records((*columns, self.key))} "
                f"WHERE {self.table}.{self.key} = new.{self.key}",
                [dump_records((*columns, self.key), values)],
            )
        else:
            settings = ", ".join(f"{column} = {self._mark(column)}" for column in columns)
            statement = f"UPDATE {self.table} SET {settings} WHERE {self.key} = %s"
            if len(values) == 1:
                cursor.execute(statement, values[0])
            else:
                cursor.executemany(statement, values)
        return cursor

    def _mark(self, column: str) -> str:
        return "%s::jsonb" if uses_postgres() and column in self._json_columns else "%s"

    def _records(self, columns: Iterable[str]) -> str:
        """Rows as one JSON parameter: a statement that stays the same, however many rows it writes."""
        return f"json_to_recordset(%s::json) AS new ({', '.join(f'{c} {self._types[c]}' for c in columns)})"

    def _read_record(self, column: str) -> str:
        return f"new.{column}::jsonb" if column in self._json_columns else f"new.{column}"

    @cached_property
    def _types(self) -> dict[str, str]:
        return {
            str(field.column): "text" if isinstance(field, models.JSONField) else str(field.db_type(connection))
            for field in self._fields
        }

    def delete_keys(self, keys: Sequence[Any]) -> None:
        marks = ", ".join(["%s"] * len(keys))
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {self.table} WHERE {self.key} IN ({marks})", list(keys))

    def select_page(self, after: Any, *, limit: int, table: str | None = None) -> list[tuple[Any, ...]]:
        """Raw rows in key order, as text-comparable values; the key is the first column of each."""
        columns = ", ".join(self._as_raw(column) for column in self.columns)
        where = f"WHERE {self.key} > %s " if after is not None else ""
        order = f'{self.key} COLLATE "C"' if self._key_is_text() else self.key
        where = where.replace(self.key, order)
        head = f"SELECT {self._as_raw(self.key)}, {columns} FROM {table or self.table}"
        statement = f"{head} {where}ORDER BY {order} LIMIT %s"
        with connection.cursor() as cursor:
            cursor.execute(statement, [*([after] if after is not None else []), limit])
            return list(cursor.fetchall())

    def _as_raw(self, column: str) -> str:
        """The value as stored; a bare SQLite column would be converted by its declared type."""
        if uses_postgres():
            return f"{column}::text" if column in self._json_columns else column
        return f"+{column}"

    def _key_is_text(self) -> bool:
        return uses_postgres() and self._key_is_varying
