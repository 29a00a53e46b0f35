"""``manage.py backup``: a copy of the workspace that ``restore`` can put back."""

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from jobctrl.home import HomeUnusable
from jobctrl.terminal import Terminal
from operations.errors import OperationsError


class Command(BaseCommand):
    help = (
        "Copy the databases and the documents to a new folder. Running workers pause while the databases are copied; "
        "pages stay up. The folder holds everything about you: keep it as private as the workspace."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", type=Path, metavar="DIR", help="where the new folder goes; JOBCTRL_HOME/backups")

    def handle(self, *args: Any, **options: Any) -> None:
        from operations.backup.taking import take_backup

        parent = (options["to"] or settings.JOBCTRL_HOME.root / "backups").expanduser().absolute()
        try:
            settings.JOBCTRL_HOME.create()
            with Terminal(self.stderr) as terminal:
                backup = take_backup(parent, show=build_show(terminal))
        except HomeUnusable as error:
            raise CommandError(str(error)) from None
        except OperationsError as error:
            raise CommandError(error.message) from None
        except OSError as error:
            raise CommandError(f"{error.filename or parent} cannot be used ({error.strerror}).") from None
        manifest = backup.manifest
        counts = manifest.counts
        if manifest.temporal == "remote":
            self.stdout.write("Temporal's own data is not in it: back up the cluster at TEMPORAL_ADDRESS as well.")
        for path in manifest.missing[:20]:
            self.stdout.write(f"not in it, missing or changed on disk: {path}")
        if len(manifest.missing) > 20:
            self.stdout.write(f"and {len(manifest.missing) - 20:,} more documents")
        self.stdout.write(
            f"{counts['jobs']:,} jobs, {counts['events']:,} events, {counts['documents']:,} documents, "
            f"{manifest.size / 1_000_000:,.1f} MB: {backup.folder}"
        )


def build_show(terminal: Terminal) -> Callable[[str], None]:
    """On a terminal the line with its numbers; in a log each thing once."""
    return lambda line: terminal.show(line if terminal.is_live else line.partition(":")[0])
