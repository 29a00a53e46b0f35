import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from operations.checkup import Verdict, examine

MARKS = {Verdict.OK: "ok", Verdict.WARNING: "!!", Verdict.FAILED: "XX"}


class Command(BaseCommand):
    help = "Check everything the product needs; each finding comes with its remedy. Exit 1 where one failed."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        found = examine()
        if options["json"]:
            body = [
                {"check": item.name, "verdict": item.finding.verdict, "detail": item.finding.detail,
                 "remedy": item.finding.remedy}
                for item in found
            ]  # fmt: skip
            self.stdout.write(json.dumps(body))
        else:
            for item in found:
                self.stdout.write(f"{MARKS[item.finding.verdict]}  {item.name:14} {item.finding.detail}")
                if item.finding.remedy:
                    self.stdout.write(f"    {'':14} {item.finding.remedy}")
        if any(item.finding.verdict is Verdict.FAILED for item in found):
            sys.exit(1)
