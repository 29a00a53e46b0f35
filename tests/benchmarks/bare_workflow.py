"""A workflow of the same activity shape as a preparation, written with the SDK alone."""

from dataclasses import dataclass
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy

QUEUE = "bare"
RETRY = RetryPolicy(initial_interval=timedelta(seconds=5), maximum_attempts=3)


@dataclass(frozen=True)
class BareInput:
    job_id: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class BareReport:
    job_id: str
    state: str


@workflow.defn(name="BareWorkflow")
class BareWorkflow:
    @workflow.run
    async def run(self, given: BareInput) -> BareReport:
        limit = timedelta(seconds=30)
        await workflow.execute_local_activity("bare_start", given, start_to_close_timeout=limit)
        await workflow.execute_local_activity("bare_check", given, start_to_close_timeout=limit)
        for _ in given.steps:
            await workflow.execute_activity(
                "bare_step", given, result_type=BareReport, start_to_close_timeout=limit,
                heartbeat_timeout=timedelta(seconds=20), retry_policy=RETRY,
            )  # fmt: skip
        await workflow.execute_local_activity("bare_end", given, start_to_close_timeout=limit)
        return BareReport(given.job_id, "succeeded")


@activity.defn(name="bare_start")
def bare_start(given: BareInput) -> None:
    return None


@activity.defn(name="bare_check")
def bare_check(given: BareInput) -> None:
    return None


@activity.defn(name="bare_step")
def bare_step(given: BareInput) -> BareReport:
    return BareReport(given.job_id, "succeeded")
