import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import CommandError

from jobctrl.following import RunEnd, describe_end, follow_discovery, follow_run
from jobctrl.terminal import Terminal
from operations.contracts import ExecutionRef, StageName
from operations.errors import OperationsError
from operations.management.product import ProductCommand
from operations.services.starts import Started
from operations.starters import MOST_JOBS, StartOrder, start_stage

STAGES = [stage.value for stage in StageName if stage is not StageName.APPLY]


class Command(ProductCommand):
    help = "Start a discovery run, or one stage over chosen jobs (every eligible one without --job)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("stage", choices=STAGES)
        parser.add_argument("--job", action="append", type=UUID, metavar="ID", help="may be given several times")
        parser.add_argument("--limit", type=int, default=0, help="at most this many jobs")
        parser.add_argument("--wait", action="store_true", help="follow the run; exit 1 where it fails")
        parser.add_argument("--timeout", type=float, default=3600, help="seconds to wait at most")
        parser.add_argument("--json", action="store_true", help="one JSON line on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["limit"] <= MOST_JOBS:
            raise CommandError(f"--limit: it must be from 0 (no limit) to {MOST_JOBS}.")
        if not options["timeout"] > 0:
            raise CommandError("--timeout: it must be a number of seconds above 0.")
        try:
            started = self.start(options)
            end = self.follow(started, options) if options["wait"] else None
        except OperationsError as error:
            raise CommandError(error.message) from None
        except TimeoutError as error:
            raise CommandError(str(error)) from None
        self.report(started, end, as_json=options["json"])
        if end is not None and (end.status != "succeeded" or end.unfinished or end.failed or has_failures(end)):
            sys.exit(1)

    def start(self, options: dict[str, Any]) -> Started:
        stage = StageName(options["stage"])
        if stage is StageName.DISCOVER and options["job"]:
            raise CommandError("--job: a discovery run is not about chosen jobs.")
        if stage is StageName.DISCOVER and options["limit"]:
            raise CommandError("--limit: a discovery run has none; results_per_board in Settings bounds each board.")
        return start_stage(StartOrder(stage, options["job"], options["limit"]))

    def follow(self, started: Started, options: dict[str, Any]) -> RunEnd:
        with Terminal(self.stderr) as terminal:
            if options["stage"] == StageName.DISCOVER:
                ref = ExecutionRef(settings.TENANT_ID, started.workflow_id, started.run_id)
                return follow_discovery(ref, show=terminal.show, timeout_seconds=options["timeout"])
            return follow_run(started.run_id, show=terminal.show, timeout_seconds=options["timeout"])

    def report(self, started: Started, end: RunEnd | None, *, as_json: bool) -> None:
        body: dict[str, Any] = {
            "workflowId": started.workflow_id,
            "runId": started.run_id,
            "existing": started.existing,
        }
        if end is not None:
            body |= {name: value for name, value in asdict(end).items() if name != "error_code"}
            body["errorCode"] = end.error_code
        if as_json:
            self.stdout.write(json.dumps(body))
            return
        word = "was already running" if started.existing else "started"
        self.stdout.write(f"{started.workflow_id} {word} (run {started.run_id})")
        if end is not None:
            facts = ", ".join(f"{value} {name}" for name, value in end.result.items() if value)
            self.stdout.write(f"{describe_end(end)} {facts}".rstrip())
            if end.failed or end.unfinished:
                self.stdout.write(f"Preparations: {end.failed} failed, {end.unfinished} not ended yet.")


def has_failures(end: RunEnd) -> bool:
    return any(end.result.get(state, "0") not in ("", "0") for state in ("failed", "exhausted", "enrichFailed"))
