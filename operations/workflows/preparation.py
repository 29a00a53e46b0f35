"""One job's preparation.

A module of its own and no larger than it must be: the sandbox reads it in anew for each of the many runs.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from operations.contracts import (
        SPENDING_STAGES,
        PreparationInput,
        PreparationResult,
        StageJobInput,
        StageReport,
        StageState,
    )
    from operations.policies import STAGE_POLICIES
from operations.envelope import Ending, run_enveloped


@workflow.defn(name="JobPreparationWorkflow")
class JobPreparationWorkflow:
    """One job through score, tailor, cover and pdf, in that order.

    A done step returns at once; a step that ends otherwise stops what depends on it. A policy
    skip is a successful preparation; a failed step fails this run and no other.
    """

    @workflow.run
    async def run(self, given: PreparationInput) -> PreparationResult:
        summary = {"jobId": given.job_id, "steps": ",".join(given.steps), "kind": given.kind}
        spends_in = tuple(step for step in given.steps if step in SPENDING_STAGES)
        return await run_enveloped(
            lambda: self._prepare(given), summary=summary, spends_in=spends_in, job_id=given.job_id
        )

    async def _prepare(self, given: PreparationInput) -> tuple[PreparationResult, Ending]:
        completed: list[str] = []
        for step in given.steps:
            report = await workflow.execute_activity(
                f"{step}_job",
                StageJobInput(given.job_id, given.profile_version, given.workspace_identity, given.execution_ref),
                result_type=StageReport,
                **STAGE_POLICIES[step],
            )
            if report.state != StageState.SUCCEEDED:
                result = PreparationResult(given.job_id, tuple(completed), step, report.state, report.code)
                return result, Ending(_describe(result))
            completed.append(step)
        result = PreparationResult(given.job_id, tuple(completed))
        return result, Ending(_describe(result))


def _describe(result: PreparationResult) -> dict[str, str]:
    return {
        "completed": ",".join(result.completed),
        "stoppedAt": result.stopped_at,
        "state": result.state,
        "code": result.code,
    }
