import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from jobctrl.terminal import Terminal
from operations.management.product import ProductCommand
from operations.processes.interrupts import stop_on_signals

TIMEOUT_SECONDS = 600
#: A demo touches neither the operator's own workspace nor their cluster, and takes no port that may be theirs. Empty
#: values win over a .env file, which missing ones would not.
OWN_SETTINGS = {
    "DATABASE_URL": "",
    "TEMPORAL_ADDRESS": "",
    "TEMPORAL_NAMESPACE": "default",
    "TEMPORAL_TLS_CERT": "",
    "TEMPORAL_TLS_KEY": "",
    "TEMPORAL_TLS_CA": "",
    "TEMPORAL_TLS_SERVER_NAME": "",
    "TEMPORAL_UI_URL": "",
    "JOBCTRL_TEMPORAL_PORT": "0",
    "JOBCTRL_TEMPORAL_UI_PORT": "",
    "JOBCTRL_WEB_ADDRESS": "127.0.0.1:0",
    "JOBCTRL_ALLOW_PRIVATE_HOSTS": "",
    "ALLOWED_HOSTS": "",
    "LOG_LEVEL": "WARNING",
}


class Command(ProductCommand):
    help = "The main job over bundled sample boards and a sample profile, in a throw-away workspace."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--headless", action="store_true", help="no web app; exit when done")
        parser.add_argument("--json", action="store_true", help="one JSON line on standard output")
        parser.add_argument("--home", help="the workspace to use instead of a fresh temporary folder")
        parser.add_argument("--in-workspace", type=float, help="internal: this process has the demo's workspace")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["in_workspace"] is None:
            sys.exit(run_apart(options["home"], sys.argv[2:]))
        from operations.management.commands.up import REFUSALS

        stop_on_signals()
        try:
            summary = self.run(options)
        except KeyboardInterrupt:
            self.stderr.write("Stopped.")
            sys.exit(130)
        except (*REFUSALS, TimeoutError) as error:
            raise CommandError(str(error)) from None
        if not is_good(summary):
            sys.exit(1)

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        from discovery.services.profiles import import_profile
        from discovery.services.sources import register_bundled_sources
        from discovery.services.starts import start_discovery
        from jobctrl.following import describe_end, explain_code, follow_discovery
        from operations.contracts import ExecutionRef
        from operations.processes.product import run_product

        stays_open = not options["headless"]
        with Terminal(self.stderr) as terminal, run_product(announce=terminal.show, with_web=stays_open) as product:
            import_profile((settings.BASE_DIR / "discovery" / "sample_profile.json").read_bytes())
            register_bundled_sources()
            run = start_discovery()
            if stays_open:
                terminal.say(f"Watch it (sign in once): {product.create_sign_in_link(target=f'/runs/{run.run_id}/')}")
            ref = ExecutionRef(settings.TENANT_ID, run.workflow_id, run.run_id)
            end = follow_discovery(ref, show=terminal.show, timeout_seconds=TIMEOUT_SECONDS)
            summary = summarise(ref, end, options["in_workspace"])
            if end.error_code:
                terminal.say(describe_end(end))
            for code, number in summary["failureCodes"].items():
                terminal.say(f"{number} failed with {explain_code(code)}")
            self.report(summary, as_json=options["json"])
            if stays_open:
                terminal.say(f"The results: {product.create_sign_in_link(target='/jobs/')}")
                terminal.say("Ctrl-C stops everything.")
                product.supervisor.wait()
        return summary

    def report(self, summary: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(summary))
            self.stdout.flush()
        else:
            self.print_results(summary)

    def print_results(self, summary: dict[str, Any]) -> None:
        from materials.queries import list_artifacts
        from operations.queries import list_top_jobs

        jobs = list_top_jobs(10)
        files = {(file.job_id, file.kind): file for file in reversed(list_artifacts(job["job_id"] for job in jobs))}
        self.stdout.write(
            f"\n{summary['discovered']} jobs found, {summary['scored']} scored, "
            f"{summary['tailored']} worth applying to; {summary['pdfs']} have documents. {summary['seconds']:.0f} s.\n"
        )
        for job in jobs:
            place = f" ({job['location']})" if job["location"] else ""
            self.stdout.write(f"{job['fit_score']:>3}  {job['title']}, {job['company']}{place}")
            for kind in ("resume_pdf", "letter_pdf"):
                if file := files.get((job["job_id"], kind)):
                    self.stdout.write(f"       {settings.JOBCTRL_HOME.artifacts / file.relative_path}")
        self.stdout.write(f"\nThe workspace is {summary['home']}; remove it when you have looked.")


def is_good(summary: dict[str, Any]) -> bool:
    """Whether the demo showed what it is to show: the whole job, without one failure."""
    return (
        summary["status"] == "succeeded"
        and summary["discovered"] > 0
        and not (summary["failed"] or summary["unfinished"] or summary["withoutPdf"])
        and bool(summary["projectionsClean"])
    )


def run_apart(home: str | None, arguments: list[str]) -> int:
    """Run the demo in a process whose settings are those of its own workspace."""
    root = Path(home).expanduser().resolve() if home else Path(tempfile.mkdtemp(prefix="jobctrl-demo-"))
    environment = os.environ | OWN_SETTINGS | {"JOBCTRL_HOME": str(root), "SQLITE_TMPDIR": str(root)}
    command = [
        sys.executable,
        str(settings.BASE_DIR / "manage.py"),
        "demo",
        *arguments,
        "--in-workspace",
        str(time.time()),
    ]
    child = subprocess.Popen(command, env=environment)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue  # the terminal sent it to the child as well, which stops its parts in order


def summarise(ref: Any, end: Any, started: float) -> dict[str, Any]:
    from operations.folding.rebuild import verify_projections
    from operations.queries import count_failure_codes, count_stage_states, count_without_pdf, find_first_event_time

    counts = count_stage_states(ref)

    def done(stage: str) -> int:
        return counts.get(stage, {}).get("succeeded", 0)

    failed = sum(states.get("failed", 0) + states.get("exhausted", 0) for states in counts.values())
    first = find_first_event_time("JobScored")
    begun = datetime.fromtimestamp(started, UTC)
    return {
        "discovered": sum(counts.get("enrich", {}).values()),
        "enriched": done("enrich"),
        "scored": done("score"),
        "tailored": done("tailor"),
        "covers": done("cover"),
        "pdfs": done("pdf"),
        "failed": failed,
        "failureCodes": count_failure_codes(ref),
        "runId": ref.run_id,
        "seconds": round(time.time() - started, 1),
        "secondsToFirstScore": round((first - begun).total_seconds(), 1) if first else None,
        "status": end.status,
        "errorCode": end.error_code,
        "unfinished": end.unfinished,
        "withoutPdf": count_without_pdf(ref),
        "projectionsClean": verify_projections().is_clean,
        "home": str(settings.JOBCTRL_HOME.root),
    }
