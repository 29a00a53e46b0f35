"""DiscoverWorkflow: plan, crawl each source family, enrich, fan out one preparation per job."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from discovery.contracts import (
        DiscoverInput,
        DiscoverResult,
        DiscoveryEnd,
        DiscoveryPlan,
        FamilyInput,
        FamilyReport,
        FanoutInput,
        FanoutReport,
        PlanInput,
    )
    from operations.contracts import BatchReport, ErrorCode, ExecutionRef, StageBatchInput
    from operations.policies import NETWORK
from operations.envelope import Ending, read_execution_ref, run_enveloped, write_control


@workflow.defn(name="DiscoverWorkflow")
class DiscoverWorkflow:
    """A family that fails after its retries stops neither the others nor the preparation of what was
    found; the run then ends failed with that source's error.
    """

    @workflow.run
    async def run(self, given: DiscoverInput) -> DiscoverResult:
        ref = read_execution_ref(given.tenant_id)
        summary = {"families": ",".join(given.families) or "all", "profileVersion": str(given.profile_version)}
        return await run_enveloped(lambda: self._discover_to_end(given, ref), summary=summary)

    async def _discover_to_end(self, given: DiscoverInput, ref: ExecutionRef) -> tuple[DiscoverResult, Ending]:
        try:
            result, failure = await self._discover(given, ref)
        except BaseException as error:
            canceled = is_cancelled_exception(error)
            if canceled or isinstance(error, Exception):
                code = "canceled" if canceled else _read_code(error)
                await self._record_end(ref, code, {})
            raise
        await self._record_end(ref, failure.type or "" if failure else "", result.counts)
        return result, Ending({name: str(value) for name, value in sorted(result.counts.items())}, failure)

    async def _discover(
        self, given: DiscoverInput, ref: ExecutionRef
    ) -> tuple[DiscoverResult, ApplicationError | None]:
        plan = await workflow.execute_activity(
            "plan_sources", PlanInput(ref, given.families), result_type=DiscoveryPlan, **NETWORK
        )
        counts, failure = await self._crawl(plan, given, ref)
        try:
            enriched = await workflow.execute_activity(
                "enrich_jobs",
                StageBatchInput(given.profile_version, given.workspace_identity, None, ref),
                result_type=BatchReport,
                **NETWORK,
            )
            counts["enriched"] = enriched.counts.get("succeeded", 0)
            counts["enrichFailed"] = enriched.counts.get("failed", 0) + enriched.counts.get("exhausted", 0)
        except ActivityError as error:
            # What was enriched before is prepared all the same, and the run then ends with this failure.
            if is_cancelled_exception(error) or not workflow.patched("prepare-after-failed-enrichment"):
                raise
            failure = failure or ApplicationError(
                "the enrichment did not finish", type=_read_code(error), non_retryable=True
            )
        fanout = await workflow.execute_activity(
            "fan_out_preparations",
            FanoutInput(ref, given.profile_version, given.workspace_identity),
            result_type=FanoutReport,
            **NETWORK,
        )
        counts.update(fanout.counts)
        return DiscoverResult(counts), failure

    async def _crawl(
        self, plan: DiscoveryPlan, given: DiscoverInput, ref: ExecutionRef
    ) -> tuple[dict[str, int], ApplicationError | None]:
        gate = asyncio.Semaphore(plan.parallel)

        async def crawl(family: str) -> FamilyReport | ApplicationError:
            async with gate:
                try:
                    report: FamilyReport = await workflow.execute_activity(
                        "crawl_source_family",
                        FamilyInput(ref, family, given.workspace_identity),
                        result_type=FamilyReport,
                        **NETWORK,
                    )
                    return report
                except ActivityError as error:
                    if is_cancelled_exception(error):
                        raise
                    return _to_failure(family, error)

        ends = await asyncio.gather(*(crawl(family) for family in plan.families))
        counts: dict[str, int] = {"families": len(plan.families), "familiesFailed": 0}
        failure: ApplicationError | None = None
        for end in ends:
            if isinstance(end, ApplicationError):
                counts["familiesFailed"] += 1
                failure = failure or end
                continue
            for name, value in end.counts.items():
                counts[name] = counts.get(name, 0) + value
        return counts, failure

    async def _record_end(self, ref: ExecutionRef, code: str, counts: dict[str, int]) -> None:
        await write_control("record_discovery_end", DiscoveryEnd(ref, code, counts))


def _to_failure(family: str, error: ActivityError) -> ApplicationError:
    cause = error.cause
    code = cause.type if isinstance(cause, ApplicationError) else ErrorCode.SOURCE_UNAVAILABLE
    text = cause.message if isinstance(cause, ApplicationError) else "the crawl did not finish in time"
    return ApplicationError(f"{family}: {text}", type=code, non_retryable=True)


def _read_code(error: BaseException) -> str:
    cause = error.cause if isinstance(error, ActivityError) else error
    return (cause.type if isinstance(cause, ApplicationError) else None) or ErrorCode.INTERNAL
