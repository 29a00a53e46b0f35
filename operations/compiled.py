"""Querysets and inserts whose statement is made once and then only run.

The ORM takes ten times as long to make a statement for one row of an indexed table as a database on this machine takes
to answer it, and each step of each job asks for the same few rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection, transaction
from django.db.models import AutoField, Expression, Field, Model, QuerySet
from django.db.models.query import FlatValuesListIterable, ModelIterable, ValuesListIterable

R = TypeVar("R")


class CompiledQuery(Generic[R]):
    """``build`` makes the queryset from one stand-in for each of ``fields``, whose values are given when it is run:

    ``JOB = CompiledQuery(lambda job_id: Job.objects.filter(id=job_id), UUIDField())`` and ``JOB.first(job_id)``.

    It gives what iterating the queryset would: rows of the model, tuples or single values. ``build`` must not read
    settings, nor anything else that changes while a process lives.
    """

    def __init__(self, build: Callable[..., "QuerySet[Any, R]"], *fields: "Field[Any, Any]") -> None:
        self._build = build
        self._fields = fields
        self._statement: _Statement | None = None

    def rows(self, *values: object) -> list[R]:
        statement = self._statement or self._compile()
        with connection.cursor() as cursor:
            cursor.execute(statement.sql, statement.fill_in(values))
            found = cursor.fetchall()
        return list(statement.read(found))

    def first(self, *values: object) -> R | None:
        """The first row; the queryset itself says in which order, and should be cut to one."""
        found = self.rows(*values)
        return found[0] if found else None

    def _compile(self) -> "_Statement":
        queryset = self._build(*(_Slot(place, field) for place, field in enumerate(self._fields)))
        statement = self._statement = _make_statement(queryset, slots=len(self._fields))
        return statement


class CompiledInsert:
    """Adds rows of one model, as ``create`` does for a model whose key the database makes; nothing is returned."""

    def __init__(self, model: type[Model]) -> None:
        self._model = model
        self._fields = [field for field in model._meta.concrete_fields if not isinstance(field, AutoField)]
        if any(field.generated or field.has_db_default() for field in self._fields):
            raise TypeError(f"{model.__name__} has columns that the database fills in")
        columns = ", ".join(str(field.column) for field in self._fields)
        self._sql = f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({', '.join(['%s'] * len(self._fields))})"

    def run(self, **values: object) -> None:
        """``values`` by field; defaults are the model's, and a name that it does not have is a ``TypeError``."""
        row = self._model(**values)
        # A row that is refused dooms the transaction, as create's does.
        with transaction.mark_for_rollback_on_error(connection.alias), connection.cursor() as cursor:
            cursor.execute(
                self._sql,
                [field.get_db_prep_save(field.pre_save(row, True), connection) for field in self._fields],
            )


class _Slot(Expression):
    """Where the value of the parameter with this place goes."""

    def __init__(self, place: int, field: "Field[Any, Any]") -> None:
        super().__init__(output_field=field)
        self.place = place

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return "%s", [self]


@dataclass(frozen=True, slots=True)
class _Statement:
    sql: str
    slots: int
    parameters: tuple[Any, ...]
    conversions: tuple[tuple[int, Any, Any], ...]
    make: Callable[[Sequence[Any]], Any]

    def fill_in(self, values: Sequence[object]) -> list[Any]:
        if len(values) != self.slots or None in values:
            raise TypeError(f"this statement takes {self.slots} values, and none of them is None: it would be IS NULL")
        return [
            given.output_field.get_db_prep_value(values[given.place], connection) if isinstance(given, _Slot) else given
            for given in self.parameters
        ]

    def read(self, found: Sequence[Sequence[Any]]) -> Iterator[Any]:
        for values in found:
            row = list(values)
            for place, convert, column in self.conversions:
                row[place] = convert(row[place], column, connection)
            yield self.make(row)


def _make_statement(queryset: "QuerySet[Any, Any]", *, slots: int) -> _Statement:
    compiler = queryset.query.get_compiler(connection=connection)
    sql, parameters = compiler.as_sql()
    columns = [column for column, _, _ in compiler.select]
    conversions = tuple(
        (place, convert, column)
        for place, (converts, column) in compiler.get_converters(columns).items()
        for convert in converts
    )
    return _Statement(sql, slots, tuple(parameters), conversions, _choose_maker(queryset, compiler))


def _choose_maker(queryset: "QuerySet[Any, Any]", compiler: Any) -> Callable[[Sequence[Any]], Any]:
    if compiler.has_extra_select or queryset._prefetch_related_lookups:  # type: ignore[attr-defined]
        raise TypeError("neither columns that only order what is distinct are read so, nor prefetched rows")
    kind: type[Any] = queryset._iterable_class
    if kind is FlatValuesListIterable:
        return lambda row: row[0]
    if kind is ValuesListIterable:
        return tuple
    if kind is ModelIterable and not compiler.klass_info.get("related_klass_infos") and not compiler.annotation_col_map:
        model = queryset.model
        names = [column.target.attname for column, _, _ in compiler.select]
        return lambda row: model.from_db(connection.alias, names, row)
    raise TypeError("only rows of one model, values_list and flat values_list are read so")
