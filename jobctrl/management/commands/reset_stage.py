import json
import sys
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from operations import queries
from operations.actions import reset_stage, retry_stage
from operations.contracts import STAGE_AFTER, StageName
from operations.errors import OperationsError
from operations.job_actions import ActionRequest, ActionResult
from operations.management.product import ProductCommand
from operations.wording import count_of, describe_code

STAGES = [stage.value for stage in STAGE_AFTER if stage is not StageName.APPLY]


class Command(ProductCommand):
    help = "Put a stage of chosen jobs back to pending, its attempts at 0. Accepted documents and scores are kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("stage", choices=STAGES)
        parser.add_argument(
            "--job", action="append", type=UUID, required=True, metavar="ID", help="may be given several times"
        )
        parser.add_argument("--run", action="store_true", help="run the stage on them as well")
        parser.add_argument("--json", action="store_true", help="one JSON line on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        unknown = queries.list_unknown_jobs(options["job"])
        if unknown:
            raise CommandError(f"--job: there is no job {unknown[0]}. Its page's address ends in its ID.")
        act = retry_stage if options["run"] else reset_stage
        try:
            result = act(ActionRequest(options["job"], "command", {"stage": options["stage"]}))
        except OperationsError as error:
            raise CommandError(error.message) from None
        if options["json"]:
            self.stdout.write(json.dumps(build_report(result)))
        else:
            self.report(options["stage"], result)
        if not result.done:
            sys.exit(1)

    def report(self, stage: str, result: ActionResult) -> None:
        if result.done:
            self.stdout.write(f"{stage}: {count_of(len(result.done), 'job')} reset.")
        if result.started is not None:
            run = f" (run {result.started.run_id})" if result.started.run_id else ""
            self.stdout.write(result.started.note or f"{result.started.workflow_id} started{run}")
        for job_id, code in result.refused.items():
            self.stderr.write(f"{job_id} is left as it was: {describe_refusal(code)}")


def describe_refusal(code: str) -> str:
    reason = describe_code(code) or describe_code(code.lower())
    if reason is None:
        return code
    return f"{reason.short}. {reason.remedy}".strip()


def build_report(result: ActionResult) -> dict[str, Any]:
    report: dict[str, Any] = {
        "done": [str(job_id) for job_id in result.done],
        "refused": {str(job_id): code for job_id, code in result.refused.items()},
    }
    if result.started is not None:
        report |= {"workflowId": result.started.workflow_id, "runId": result.started.run_id}
        if result.started.note:
            report["note"] = result.started.note
    return report
