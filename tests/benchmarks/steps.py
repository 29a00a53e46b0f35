"""What runs in a process of its own, so that settings, memory and connections are its own too.

``seed JOBS``, ``copy SQLITE_FILE`` or ``measure JOBS OUTPUT FIGURE...``.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import django

from tests.benchmarks.figures import Figure

COPY_BATCH = 1000


def main(arguments: list[str]) -> None:
    django.setup()
    step, *rest = arguments
    if step == "seed":
        seed(int(rest[0]))
    elif step == "copy":
        copy_database(Path(rest[0]))
    else:
        measure(int(rest[0]), Path(rest[1]), rest[2:])


def seed(jobs: int) -> None:
    from django.core.management import call_command

    from tests.benchmarks.seeder import seed_workspace

    call_command("migrate", interactive=False, verbosity=0)
    seed_workspace(jobs)
    check_projections()


def measure(jobs: int, output: Path, names: list[str]) -> None:
    """Each figure's module in turn over this process's database; the projections must be clean after the last one."""
    from django.db import connection

    database = "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"
    with output.open("w", encoding="utf-8") as file:
        for name in names:
            module = import_module(f"tests.benchmarks.{name}")
            figures: Iterator[Figure] = module.measure(jobs)
            for figure in figures:
                found = replace(figure, database=figure.database or database, jobs=figure.jobs or jobs)
                file.write(json.dumps(found.to_json()) + "\n")
                file.flush()
    check_projections()


def check_projections() -> None:
    from operations.folding.rebuild import verify_projections

    report = verify_projections()
    if not report.is_clean:
        raise RuntimeError(f"the projections are not clean: {report}")


def copy_database(source: Path) -> None:
    """Copy a migrated SQLite workspace row by row into this process's empty PostgreSQL database."""
    from django.apps import apps
    from django.core.management import call_command
    from django.core.management.color import no_style
    from django.db import connection, connections

    call_command("migrate", interactive=False, verbosity=0)
    connections.databases["seed"] = {**connections.databases["default"], "ENGINE": "django.db.backends.sqlite3"}
    connections.databases["seed"] |= {"NAME": str(source), "OPTIONS": {}, "CONN_HEALTH_CHECKS": False}
    connections.configure_settings(connections.databases)
    models: list[Any] = [
        model
        for label in ("operations", "discovery", "scoring", "materials")
        for model in apps.get_app_config(label).get_models()
    ]
    for model in models:
        batch: list[Any] = []
        for row in model.objects.using("seed").order_by("pk").iterator(COPY_BATCH):
            batch.append(row)
            if len(batch) == COPY_BATCH:
                model.objects.using("default").bulk_create(batch)
                batch = []
        model.objects.using("default").bulk_create(batch)
    connections["seed"].close()
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
        cursor.execute("ANALYZE")


if __name__ == "__main__":
    main(sys.argv[1:])
