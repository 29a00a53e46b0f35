"""Registered workflows in the SDK's sandbox, over stub activities that have the real names."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from discovery.contracts import (
    DiscoverInput,
    DiscoveryEnd,
    DiscoveryPlan,
    FamilyInput,
    FamilyReport,
    FanoutInput,
    FanoutReport,
    PlanInput,
)
from operations.contracts import (
    BatchReport,
    CanceledSelection,
    ErrorCode,
    PipelineInput,
    PreparationInput,
    RecordedEnd,
    RunStatus,
    SpendPreflight,
    StageBatchInput,
    StageJobInput,
    StageReport,
    StageState,
    WorkflowOutcome,
    WorkflowStart,
)
from operations.registration import collect_workflows

JOB = str(UUID(int=7))
WORKSPACE = "0" * 64

#: One ordinary input for every registered workflow; a test requires that none is missing.
INPUTS: dict[str, Any] = {
    "DiscoverWorkflow": DiscoverInput(1, WORKSPACE),
    "JobPreparationWorkflow": PreparationInput(JOB, "0" * 32, 1, WORKSPACE),
    "JobPipelineWorkflow": PipelineInput("pdf", 1, WORKSPACE),
}
#: The activity in the middle of each, in which it is canceled or refused.
LONG_WORK = {
    "DiscoverWorkflow": "crawl_source_family",
    "JobPreparationWorkflow": "tailor_job",
    "JobPipelineWorkflow": "pdf_job",
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run whose history is kept: its workflow's name, its input, and the activity in which it fails or is canceled."""

    workflow: str
    given: Any
    middle: str


#: By the name of its files. Beside one of each workflow, the ways that another input takes through it.
RECORDED = {name: Recorded(name, given, LONG_WORK[name]) for name, given in INPUTS.items()} | {
    "JobPipelineWorkflow-enrich": Recorded(
        "JobPipelineWorkflow", PipelineInput("enrich", 1, WORKSPACE, limit=10), "enrich_jobs"
    ),
    "JobPipelineWorkflow-score": Recorded(
        "JobPipelineWorkflow", PipelineInput("score", 1, WORKSPACE, job_ids=(JOB,)), "score_jobs"
    ),
}


@dataclass
class Stubs:
    """What the stubs were asked, and how they answer. ``block`` names the activity that never ends by itself,
    ``fail`` the one that is refused for good."""

    block: str = ""
    refuse_with: str = ""  # the type of failure with which every stage of a job ends
    over_budget: bool = False
    waits_after: dict[str, int] = field(default_factory=dict)  # how a batch's jobs ended before the rest had to wait
    fail: str = ""
    parallel: int = 2
    #: Its own: a run that another test left without a worker must not come here.
    queue: str = field(default_factory=lambda: f"stubs-{uuid4().hex}")
    calls: list[str] = field(default_factory=list)
    preflights: list[SpendPreflight] = field(default_factory=list)
    outcomes: list[WorkflowOutcome] = field(default_factory=list)
    ends: list[DiscoveryEnd] = field(default_factory=list)
    selections: list[CanceledSelection] = field(default_factory=list)
    blocked: asyncio.Event = field(default_factory=asyncio.Event)
    ending: asyncio.Event = field(default_factory=asyncio.Event)  # an end is being written
    may_end: asyncio.Event | None = None  # what that waits for

    async def note(self, name: str) -> None:
        self.calls.append(name)
        if name == self.fail:
            raise ApplicationError("Refused.", type=ErrorCode.CONFIGURATION, non_retryable=True)
        if name == self.block:
            self.blocked.set()
            while True:
                activity.heartbeat()
                await asyncio.sleep(0.1)

    def build(self) -> Sequence[Callable[..., Awaitable[Any]]]:
        return [*self._build_control(), *self._build_discovery(), *self._build_stages()]

    def _build_control(self) -> Sequence[Callable[..., Awaitable[Any]]]:
        @activity.defn(name="record_workflow_started")
        async def record_started(start: WorkflowStart) -> None:
            self.calls.append("record_workflow_started")

        @activity.defn(name="check_spend_budget")
        async def check_budget(preflight: SpendPreflight) -> None:
            self.calls.append("check_spend_budget")
            self.preflights.append(preflight)
            if self.over_budget:
                raise ApplicationError("used up", type=ErrorCode.BUDGET_EXCEEDED, non_retryable=True)

        @activity.defn(name="record_workflow_outcome")
        async def record_outcome(outcome: WorkflowOutcome) -> RecordedEnd:
            self.calls.append("record_workflow_outcome")
            self.outcomes.append(outcome)
            self.ending.set()
            if self.may_end is not None:
                await self.may_end.wait()
            first = self.outcomes[0]
            return RecordedEnd(first.status, first.error_code)

        @activity.defn(name="record_discovery_end")
        async def record_discovery_end(end: DiscoveryEnd) -> None:
            self.calls.append("record_discovery_end")
            self.ends.append(end)

        @activity.defn(name="cancel_selected_rows")
        async def cancel_selected(given: CanceledSelection) -> None:
            self.calls.append("cancel_selected_rows")
            self.selections.append(given)

        return [record_started, check_budget, record_outcome, record_discovery_end, cancel_selected]

    def _build_discovery(self) -> Sequence[Callable[..., Awaitable[Any]]]:
        @activity.defn(name="plan_sources")
        async def plan(given: PlanInput) -> DiscoveryPlan:
            await self.note("plan_sources")
            return DiscoveryPlan(("ats", "bundled"), self.parallel)

        @activity.defn(name="crawl_source_family")
        async def crawl(given: FamilyInput) -> FamilyReport:
            await self.note("crawl_source_family")
            return FamilyReport(given.family, {"postings": 2, "new": 2})

        @activity.defn(name="enrich_jobs")
        async def enrich(given: StageBatchInput) -> BatchReport:
            await self.note("enrich_jobs")
            return BatchReport("enrich", {"succeeded": 4})

        @activity.defn(name="fan_out_preparations")
        async def fan_out(given: FanoutInput) -> FanoutReport:
            await self.note("fan_out_preparations")
            return FanoutReport({"planned": 4, "started": 4})

        return [plan, crawl, enrich, fan_out]

    def _build_stages(self) -> Sequence[Callable[..., Awaitable[Any]]]:
        @activity.defn(name="select_jobs")
        async def select(stage: str, limit: int) -> list[str]:
            await self.note("select_jobs")
            return [JOB, str(UUID(int=8))]

        @activity.defn(name="score_jobs")
        async def score(given: StageBatchInput) -> BatchReport:
            await self.note("score_jobs")
            if self.waits_after:
                raise ApplicationError("used up", self.waits_after, type=ErrorCode.BUDGET_EXCEEDED, non_retryable=True)
            return BatchReport("score", {"succeeded": 1})

        return [select, score, *(self._build_stage(stage) for stage in ("score", "tailor", "cover", "pdf"))]

    def _build_stage(self, stage: str) -> Callable[..., Awaitable[Any]]:
        @activity.defn(name=f"{stage}_job")
        async def work(given: StageJobInput) -> StageReport:
            await self.note(f"{stage}_job")
            if self.refuse_with:
                raise ApplicationError("refused", type=self.refuse_with, non_retryable=True)
            return StageReport(given.job_id, stage, StageState.SUCCEEDED)

        return work


@asynccontextmanager
async def serving(client: Client, stubs: Stubs) -> Any:
    """A worker with every registered workflow, in the default sandbox."""
    async with Worker(client, task_queue=stubs.queue, workflows=collect_workflows(), activities=stubs.build()):
        yield


async def start(client: Client, stubs: Stubs, name: str, argument: Any, *, run: str) -> WorkflowHandle[Any, Any]:
    return await client.start_workflow(name, argument, id=f"{name}-{run}", task_queue=stubs.queue)


def describe_ends(stubs: Stubs) -> list[tuple[RunStatus, str]]:
    return [(RunStatus(outcome.status), outcome.error_code) for outcome in stubs.outcomes]
