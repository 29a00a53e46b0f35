from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from operations.folding.engine import FoldFailed, list_flagged_apps
from operations.folding.rebuild import rebuild_projections
from operations.folding.registry import list_apps
from operations.management.commands.verify_projections import build_progress, describe_table
from operations.management.product import ProductCommand


class Command(ProductCommand):
    help = "Rebuild the projections from the event log; prints what was wrong before."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--app", choices=list_apps(), help="only this app's projections")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = rebuild_projections(app=options["app"], progress=build_progress(self))
        except FoldFailed as failure:
            raise CommandError(
                f"A fold refuses event {failure.event.id:,} ({failure.code}). The tables are as they were; the fold "
                "has to be mended first."
            ) from None
        for table in report.tables:
            self.stdout.write(f"before: {describe_table(table)}")
        for app in list_flagged_apps():
            self.stdout.write(f"{app}: still behind; the worker goes on catching up")
        self.stdout.write(f"{report.events:,} events folded; the projections are now as the log says.")
