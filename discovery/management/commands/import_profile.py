import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from discovery.profile_import import ProfileRefused
from discovery.services.profiles import import_profile
from operations.management.product import ProductCommand

SIZE_LIMIT = 1_000_000


class Command(ProductCommand):
    help = "Import the candidate's profile from a JSON Resume file (v1, or v0)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the JSON Resume, or - for standard input")
        parser.add_argument("--json", action="store_true", help="print the result as one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        data = read_file(options["file"])
        try:
            imported = import_profile(data)
        except ProfileRefused as refused:
            lines = [f"  {problem.field or 'file'}: {problem.reason} {problem.remedy}" for problem in refused.problems]
            raise CommandError("The profile was not imported; nothing was changed.\n" + "\n".join(lines)) from None
        if options["json"]:
            self.stdout.write(json.dumps({"version": imported.version, "created": imported.created, **imported.parts}))
            return
        held = ", ".join(f"{count} {name}" for name, count in imported.parts.items())
        word = "imported" if imported.created else "unchanged"
        self.stdout.write(f"Profile {word}: version {imported.version} ({held}).")


def read_file(name: str) -> bytes:
    """At most a little over the limit; the reader itself says that a file is too large."""
    if name == "-":
        return sys.stdin.buffer.read(SIZE_LIMIT + 1)
    try:
        with Path(name).open("rb") as handle:
            return handle.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from None
