"""One stage over many jobs."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from operations.contracts import (
        LOST_OWNERSHIP,
        SPENDING_STAGES,
        BatchReport,
        CanceledSelection,
        PipelineInput,
        StageBatchInput,
        StageJobInput,
        StageReport,
        StageState,
    )
    from operations.policies import NETWORK, RENDER, STAGE_POLICIES
from operations.envelope import Ending, as_failure, run_enveloped, write_control

PDF_CONCURRENCY = 4
PDF_AT_MOST = 2000


@workflow.defn(name="JobPipelineWorkflow")
class JobPipelineWorkflow:
    """One stage over chosen jobs, or over every eligible one. A failing item never stops its peers.

    Canceled, it takes the chosen jobs along: what it had not come to is not left waiting as if nobody had stopped it.
    """

    def __init__(self) -> None:
        self.selection_is_canceled = False

    @workflow.run
    async def run(self, given: PipelineInput) -> BatchReport:
        summary = {"stage": given.stage, "jobs": "eligible" if given.job_ids is None else str(len(given.job_ids))}
        try:
            return await run_enveloped(
                lambda: self._run_to_end(given),
                summary=summary,
                spends_in=(given.stage,) if given.stage in SPENDING_STAGES else (),
                job_ids=given.job_ids or (),
            )
        except BaseException as error:
            await self._cancel_selection(given, error)  # where it was canceled before its body began
            raise

    async def _run_to_end(self, given: PipelineInput) -> tuple[BatchReport, Ending]:
        try:
            return await self._run_stage(given)
        except BaseException as error:
            await self._cancel_selection(given, error)
            raise

    async def _cancel_selection(self, given: PipelineInput, error: BaseException) -> None:
        if given.job_ids is None or self.selection_is_canceled or not is_cancelled_exception(error):
            return
        if workflow.patched("cancel-selection"):
            self.selection_is_canceled = True
            info = workflow.info()
            selection = CanceledSelection(info.workflow_id, info.run_id, given.stage, given.job_ids)
            await write_control("cancel_selected_rows", selection)

    async def _run_stage(self, given: PipelineInput) -> tuple[BatchReport, Ending]:
        if given.stage == "pdf":
            report = await self._render_all(given)
        else:
            try:
                report = await self._work_all(given)
            except ActivityError as error:
                if (counts := _read_counts(error)) is None:
                    raise
                return BatchReport(given.stage, counts), Ending(_describe_counts(counts), as_failure(error))
        facts = _describe_counts(report.counts)
        failed = report.counts.get("failed", 0) + report.counts.get("exhausted", 0)
        if failed and given.job_ids is None:
            code = report.failures[0].code if report.failures else "STAGE_FAILED"
            return report, Ending(
                facts,
                ApplicationError(f"{failed} jobs failed in {given.stage}.", type=code, non_retryable=True),
            )
        return report, Ending(facts)

    async def _work_all(self, given: PipelineInput) -> BatchReport:
        report: BatchReport = await workflow.execute_activity(
            f"{given.stage}_jobs",
            StageBatchInput(
                given.profile_version,
                given.workspace_identity,
                given.job_ids,
                given.execution_ref,
                given.limit,
            ),
            result_type=BatchReport,
            **STAGE_POLICIES[given.stage],
        )
        return report

    async def _render_all(self, given: PipelineInput) -> BatchReport:
        """Pdf has no batch activity: its one counted record is each job's own render.

        Without chosen jobs at most ``PDF_AT_MOST`` are taken, which keeps the history within Temporal's
        bounds; running it again takes the next ones.
        """
        job_ids = given.job_ids
        if job_ids is None:
            job_ids = tuple(
                await workflow.execute_activity(
                    "select_jobs",
                    args=[given.stage, min(given.limit or PDF_AT_MOST, PDF_AT_MOST)],
                    result_type=list[str],
                    **NETWORK,
                )
            )
        gate = asyncio.Semaphore(PDF_CONCURRENCY)

        async def render(job_id: str) -> StageReport:
            async with gate:
                try:
                    report: StageReport = await workflow.execute_activity(
                        "pdf_job",
                        StageJobInput(job_id, given.profile_version, given.workspace_identity, given.execution_ref),
                        result_type=StageReport,
                        **RENDER,
                    )
                    return report
                except Exception as error:
                    if is_cancelled_exception(error):
                        raise
                    cause = getattr(error, "cause", None)
                    code = (cause.type if isinstance(cause, ApplicationError) else None) or "PDF_FAILED"
                    state = StageState.SKIPPED if code in LOST_OWNERSHIP else StageState.FAILED
                    return StageReport(job_id, "pdf", state, code)

        reports = await asyncio.gather(*(render(job_id) for job_id in job_ids))
        counts: dict[str, int] = {}
        for report in reports:
            counts[report.state] = counts.get(report.state, 0) + 1
        failures = tuple(r for r in reports if r.state in (StageState.FAILED, StageState.EXHAUSTED))[:25]
        return BatchReport("pdf", counts, failures)


def _describe_counts(counts: dict[str, int]) -> dict[str, str]:
    return {state: str(count) for state, count in sorted(counts.items())}


def _read_counts(error: ActivityError) -> dict[str, int] | None:
    """How the jobs of a batch ended that has to wait; no other failure of an activity says so."""
    details = error.cause.details if isinstance(error.cause, ApplicationError) else ()
    return details[0] if details and isinstance(details[0], dict) else None
