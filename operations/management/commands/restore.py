"""``manage.py restore``: put a backup in place of what is here."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobctrl.home import HomeUnusable
from jobctrl.terminal import Terminal
from operations.errors import OperationsError
from operations.management.commands.backup import build_show
from operations.management.commands.verify_projections import describe_table
from operations.processes.workspace_lock import AlreadyRunning


class Command(BaseCommand):
    help = (
        "Put a backup in place of a stopped workspace. Every file is checked before anything is touched; what is here "
        "now is moved to JOBCTRL_HOME/aside. Exit 1 where what was restored is not whole."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that manage.py backup printed")
        parser.add_argument(
            "--moved", action="store_true", help="the workspace lived somewhere else, and no longer runs there"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        from operations.backup.restoring import restore_backup

        folder = options["folder"].expanduser().absolute()
        try:
            with Terminal(self.stderr) as terminal:
                restored = restore_backup(folder, has_moved=options["moved"], show=build_show(terminal))
        except (AlreadyRunning, HomeUnusable) as error:
            raise CommandError(str(error)) from None
        except OperationsError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"What was here before: {restored.aside}")
        if restored.former_identity:
            self.stdout.write("The workspace has moved here; work that was started at its former place goes on.")
        for table in restored.projections.tables:
            if not table.is_clean:
                self.stdout.write(f"not as the log says: {describe_table(table)}. Run: manage.py rebuild_projections")
        for path in restored.missing[:20]:
            self.stdout.write(f"missing or changed: {path}. Render the job's documents again.")
        if len(restored.missing) > 20:
            self.stdout.write(f"and {len(restored.missing) - 20:,} more documents")
        if restored.open_runs:
            self.stdout.write(
                f"{restored.open_runs:,} runs were open. A worker asks Temporal about each; one that Temporal does not "
                "know is shown as ended provisionally."
            )
        manifest = restored.manifest
        self.stdout.write(
            f"Restored the backup of {manifest.made_at:%Y-%m-%d %H:%M} UTC: {manifest.counts['jobs']:,} jobs, "
            f"{manifest.counts['events']:,} events, {manifest.counts['documents']:,} documents. "
            "Start everything with: manage.py up"
        )
        if restored.missing or not restored.projections.is_clean:
            sys.exit(1)
