from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from operations.folding.rebuild import rebuild_projections
from operations.folding.registry import list_apps
from operations.management.commands.verify_projections import Command as VerifyCommand
from operations.management.commands.verify_projections import print_report


class Command(BaseCommand):
    help = "Rebuild the projections from the event log; prints what was wrong before."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--app", choices=list_apps(), help="only this app's projections")

    def handle(self, *args: Any, **options: Any) -> None:
        shower = VerifyCommand(stderr=self.stderr._out)
        report = rebuild_projections(app=options["app"], progress=shower.show)
        self.stdout.write("What differed before, and is mended now:")
        print_report(self, report)
