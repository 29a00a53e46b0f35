"""A workflow that continues as new as often as it is told, in the envelope of every workflow."""

from temporalio import workflow

from operations.envelope import Ending, run_enveloped


@workflow.defn(name="ContinuingWorkflow")
class ContinuingWorkflow:
    @workflow.run
    async def run(self, left: int) -> int:
        return await run_enveloped(lambda: self._go_on(left), summary={})

    async def _go_on(self, left: int) -> tuple[int, Ending]:
        if left:
            workflow.continue_as_new(left - 1)
        return left, Ending()
