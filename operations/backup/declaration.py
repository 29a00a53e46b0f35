"""Which files below the home belong to rows: each app declares its tables of files in ``stored_files.py``."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection

#: Runs one statement and gives its rows: of this database, or of a copy of it.
Query = Callable[[str], Iterable[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class FileTable:
    """A table whose rows each name a file: its path below ``folder`` (itself below the home), SHA-256 and bytes."""

    table: str
    folder: str
    path_column: str
    sha256_column: str
    size_column: str


@dataclass(frozen=True, slots=True)
class RegisteredFile:
    """``path`` is below the home."""

    path: str
    sha256: str
    size: int


_tables: list[FileTable] = []


def declare_files(table: FileTable) -> None:
    _tables.append(table)


def list_registered(query: Query) -> Iterator[RegisteredFile]:
    """Every file that a row names, each once; one scan of each declared table."""
    for table in _tables:
        columns = f"{table.path_column}, {table.sha256_column}, {table.size_column}"
        for path, sha256, size in query(f"SELECT DISTINCT {columns} FROM {table.table} ORDER BY 1"):
            yield RegisteredFile(f"{table.folder}/{path}", sha256, size)


def query_database(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())
