import sys
from typing import Any

from django.core.management.base import BaseCommand

from operations.folding.rebuild import Progress, ProjectionReport, TableReport, verify_projections
from operations.management.product import ProductCommand


class Command(ProductCommand):
    help = "Compare every projection with a fresh fold of the event log; exit 1 where one differs."

    def handle(self, *args: Any, **options: Any) -> None:
        report = verify_projections(progress=build_progress(self))
        print_report(self, report)
        if not report.is_clean:
            sys.exit(1)


def build_progress(command: BaseCommand) -> Progress:
    """A progress line on a terminal's standard error; nothing elsewhere."""

    def show(app: str, position: int, until: int) -> None:
        if command.stderr.isatty():
            command.stderr.write(f"\r{app}: {position:,} of {until:,}", ending="")
            command.stderr.flush()

    return show


def describe_table(table: TableReport) -> str:
    if table.is_clean:
        return f"{table.table}: {table.rows} rows, as the log says ({table.digest[:12]})"
    return (
        f"{table.table}: {table.rows} rows; {table.missing} missing, {table.differing} differing, "
        f"{table.superfluous} superfluous ({table.digest[:12]}, expected {table.expected_digest[:12]})"
    )


def print_report(command: BaseCommand, report: ProjectionReport) -> None:
    if command.stderr.isatty():
        command.stderr.write("")
    for table in report.tables:
        command.stdout.write(describe_table(table))
    for app, state in report.flagged.items():
        command.stdout.write(f"{app}: its projections are {state}; they catch up on a worker's next heartbeat")
    command.stdout.write(f"{report.events:,} events; {'clean' if report.is_clean else 'NOT clean'}")
