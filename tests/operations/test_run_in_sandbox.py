"""Every registered workflow in the SDK's sandbox: its ends, its failures, its cancellation and its replay."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowHistory
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import Replayer
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from operations.contracts import ErrorCode, RunStatus, SpendPreflight
from operations.registration import collect_workflows
from tests.operations.workflow_runs import INPUTS, JOB, LONG_WORK, RECORDED, Stubs, describe_ends, serving, start
from tests.temporal import TemporalServer

pytestmark = pytest.mark.temporal

HISTORIES = Path(__file__).resolve().parents[1] / "histories"
LAST_EVENT = {"succeeded": "completed", "failed": "failed", "canceled": "canceled"}
SECONDS = 30.0

CALLS = {
    "DiscoverWorkflow": ["plan_sources", "crawl_source_family", "crawl_source_family", "enrich_jobs",
                         "fan_out_preparations", "record_discovery_end"],
    "JobPreparationWorkflow": ["check_spend_budget", "score_job", "tailor_job", "cover_job", "pdf_job"],
    "JobPipelineWorkflow": ["select_jobs", "pdf_job", "pdf_job"],
}  # fmt: skip
#: The activity whose failure fails each run.
LAST_WORK = {
    "DiscoverWorkflow": "fan_out_preparations",
    "JobPreparationWorkflow": "pdf_job",
    "JobPipelineWorkflow": "pdf_job",
}
#: What makes each body raise a plain exception.
BROKEN: dict[str, dict[str, Any]] = {
    "DiscoverWorkflow": {},  # a plan of -1 families at once
    "JobPreparationWorkflow": {"steps": ("polish",)},
    "JobPipelineWorkflow": {"stage": "polish"},
}


@asynccontextmanager
async def connected(server: TemporalServer) -> AsyncIterator[Client]:
    async with asyncio.timeout(SECONDS):
        yield await Client.connect(server.address, identity="recorder")


def test_every_registered_workflow_is_tried_here() -> None:
    names = {definition.name for cls in collect_workflows() if (definition := workflow._Definition.from_class(cls))}
    assert names == INPUTS.keys() == CALLS.keys() == BROKEN.keys() == LONG_WORK.keys()
    assert {path.stem for path in HISTORIES.glob("*.json")} >= {
        f"{name}-{end}" for name in RECORDED for end in LAST_EVENT
    }


def test_no_run_makes_the_shared_dataclasses_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox reads a workflow's module in for each run. Contracts made anew there were half of a worker's work."""
    made: list[type] = []
    make = dataclasses._process_class  # type: ignore[attr-defined]
    monkeypatch.setattr(
        dataclasses, "_process_class", lambda cls, *args, **kwargs: made.append(cls) or make(cls, *args, **kwargs)
    )

    async def prepare() -> None:
        for cls in collect_workflows():
            definition = workflow._Definition.from_class(cls)
            assert definition
            SandboxedWorkflowRunner().prepare_workflow(definition)

    asyncio.run(prepare())
    assert made == []


@pytest.mark.parametrize("name", INPUTS)
def test_it_runs_between_its_two_control_writes_and_replays(server: TemporalServer, name: str) -> None:
    async def run() -> None:
        stubs = Stubs()
        async with connected(server) as client:
            async with serving(client, stubs):
                handle = await start(client, stubs, name, INPUTS[name], run=uuid4().hex)
                await handle.result()
            history = await handle.fetch_history()
        assert stubs.calls == ["record_workflow_started", *CALLS[name], "record_workflow_outcome"]
        assert describe_ends(stubs) == [(RunStatus.SUCCEEDED, "")]
        await replay(history)

    asyncio.run(run())


@pytest.mark.parametrize("name", INPUTS)
def test_a_plain_exception_ends_the_run_once_as_internal(server: TemporalServer, name: str) -> None:
    async def run() -> None:
        stubs = Stubs(parallel=-1)
        async with connected(server) as client, serving(client, stubs):
            handle = await start(
                client, stubs, name, dataclasses.replace(INPUTS[name], **BROKEN[name]), run=uuid4().hex
            )
            failure = await read_failure(handle)
            kinds = [event["eventType"] for event in json.loads((await handle.fetch_history()).to_json())["events"]]
        assert isinstance(failure, ApplicationError)
        assert (failure.type, failure.non_retryable) == (ErrorCode.INTERNAL, True)
        assert describe_ends(stubs) == [(RunStatus.FAILED, ErrorCode.INTERNAL)]
        assert "EVENT_TYPE_WORKFLOW_TASK_FAILED" not in kinds
        assert [end.error_code for end in stubs.ends] == ([ErrorCode.INTERNAL] if name == "DiscoverWorkflow" else [])

    asyncio.run(run())


def test_what_was_found_is_prepared_although_its_enrichment_broke_off(server: TemporalServer) -> None:
    async def run() -> None:
        stubs = Stubs(fail="enrich_jobs")
        name = "DiscoverWorkflow"
        async with connected(server) as client:
            async with serving(client, stubs):
                handle = await start(client, stubs, name, INPUTS[name], run=uuid4().hex)
                failure = await read_failure(handle)
            history = await handle.fetch_history()
        assert isinstance(failure, ApplicationError) and failure.type == ErrorCode.CONFIGURATION
        assert stubs.calls[-4:] == [
            "enrich_jobs",
            "fan_out_preparations",
            "record_discovery_end",
            "record_workflow_outcome",
        ]
        assert describe_ends(stubs) == [(RunStatus.FAILED, ErrorCode.CONFIGURATION)]
        assert [end.error_code for end in stubs.ends] == [ErrorCode.CONFIGURATION]
        await replay(history)

    asyncio.run(run())


@pytest.mark.parametrize("name", INPUTS)
def test_a_cancellation_in_the_middle_is_recorded_once(server: TemporalServer, name: str) -> None:
    async def run() -> None:
        stubs = Stubs(block=LONG_WORK[name])
        async with connected(server) as client, serving(client, stubs):
            handle = await start(client, stubs, name, INPUTS[name], run=uuid4().hex)
            await stubs.blocked.wait()
            await handle.cancel()
            assert isinstance(await read_failure(handle), CancelledError)
        assert describe_ends(stubs) == [(RunStatus.CANCELED, "")]
        assert [end.error_code for end in stubs.ends] == (["canceled"] if name == "DiscoverWorkflow" else [])

    asyncio.run(run())


@pytest.mark.parametrize("name", INPUTS)
def test_a_run_canceled_before_any_worker_saw_it_has_its_start_and_one_end(server: TemporalServer, name: str) -> None:
    async def run() -> None:
        stubs = Stubs()
        async with connected(server) as client:
            handle = await start(client, stubs, name, INPUTS[name], run=uuid4().hex)
            await handle.cancel()
            async with serving(client, stubs):
                assert isinstance(await read_failure(handle), CancelledError)
        assert stubs.calls == ["record_workflow_started", "record_workflow_outcome"]
        assert describe_ends(stubs) == [(RunStatus.CANCELED, "")]

    asyncio.run(run())


@pytest.mark.parametrize("fails", [False, True], ids=["succeeds", "fails"])
@pytest.mark.parametrize("name", INPUTS)
def test_a_cancellation_during_the_last_write_leaves_the_end_as_recorded(
    server: TemporalServer, name: str, fails: bool
) -> None:
    """Temporal refuses the end that follows such a request and has the task done again, its body canceled now."""

    async def run() -> None:
        stubs = Stubs(may_end=asyncio.Event(), fail=LAST_WORK[name] if fails else "")
        async with connected(server) as client, serving(client, stubs):
            handle = await start(client, stubs, name, INPUTS[name], run=uuid4().hex)
            await stubs.ending.wait()
            await handle.cancel()
            assert stubs.may_end is not None
            stubs.may_end.set()
            if fails:
                failure = await read_failure(handle)
                assert isinstance(failure, ApplicationError) and failure.type == ErrorCode.CONFIGURATION
            else:
                await handle.result()
            history = await handle.fetch_history()
        assert describe_ends(stubs)[0] == (
            (RunStatus.FAILED, ErrorCode.CONFIGURATION) if fails else (RunStatus.SUCCEEDED, "")
        )
        await replay(history)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("code", "state"), [("OWNED_BY_OTHER_RUN", "skipped"), ("LEASE_LOST", "skipped"), ("TOO_LONG", "failed")]
)
def test_a_document_that_another_run_prints_is_skipped(server: TemporalServer, code: str, state: str) -> None:
    async def run() -> None:
        given = dataclasses.replace(INPUTS["JobPipelineWorkflow"], job_ids=(JOB,))
        stubs = Stubs(refuse_with=code)
        async with connected(server) as client, serving(client, stubs):
            handle = await start(client, stubs, "JobPipelineWorkflow", given, run=uuid4().hex)
            assert (await handle.result())["counts"] == {state: 1}

    asyncio.run(run())


@pytest.mark.parametrize("begun", [True, False], ids=["in the middle", "before it began"])
def test_a_canceled_selection_is_canceled_once_with_its_run(server: TemporalServer, begun: bool) -> None:
    async def run() -> None:
        stubs = Stubs(block="pdf_job")
        given = dataclasses.replace(INPUTS["JobPipelineWorkflow"], job_ids=(JOB,))
        async with connected(server) as client:
            handle = await start(client, stubs, "JobPipelineWorkflow", given, run=uuid4().hex)
            if not begun:
                await handle.cancel()
            async with serving(client, stubs):
                if begun:
                    await stubs.blocked.wait()
                    await handle.cancel()
                assert isinstance(await read_failure(handle), CancelledError)
            await replay(await handle.fetch_history())
        [selection] = stubs.selections
        assert (selection.workflow_id, selection.run_id) == (handle.id, handle.first_execution_run_id)
        assert (selection.stage, selection.job_ids) == ("pdf", (JOB,))
        last = ["cancel_selected_rows", "record_workflow_outcome"]
        assert stubs.calls[-2:] == (last if begun else last[::-1])
        assert describe_ends(stubs) == [(RunStatus.CANCELED, "")]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("name", "changes"), [("JobPreparationWorkflow", {}), ("JobPipelineWorkflow", {"stage": "score"})]
)
def test_a_run_over_the_budget_fails_before_any_work(
    server: TemporalServer, name: str, changes: dict[str, Any]
) -> None:
    async def run() -> None:
        stubs = Stubs(over_budget=True)
        async with connected(server) as client, serving(client, stubs):
            handle = await start(client, stubs, name, dataclasses.replace(INPUTS[name], **changes), run=uuid4().hex)
            failure = await read_failure(handle)
            assert isinstance(failure, ApplicationError) and failure.type == ErrorCode.BUDGET_EXCEEDED
            await replay(await handle.fetch_history())
        assert stubs.calls == ["record_workflow_started", "check_spend_budget", "record_workflow_outcome"]
        assert describe_ends(stubs) == [(RunStatus.FAILED, "budget_exceeded")]

    asyncio.run(run())


def test_a_batch_that_has_to_wait_says_how_its_jobs_ended(server: TemporalServer) -> None:
    async def run() -> None:
        stubs = Stubs(waits_after={"succeeded": 3, "pending": 2})
        given = dataclasses.replace(INPUTS["JobPipelineWorkflow"], stage="score", job_ids=(JOB,))
        async with connected(server) as client, serving(client, stubs):
            handle = await start(client, stubs, "JobPipelineWorkflow", given, run=uuid4().hex)
            failure = await read_failure(handle)
            assert isinstance(failure, ApplicationError) and failure.type == ErrorCode.BUDGET_EXCEEDED
            await replay(await handle.fetch_history())
        assert describe_ends(stubs) == [(RunStatus.FAILED, "budget_exceeded")]
        assert [end.result for end in stubs.outcomes] == [{"succeeded": "3", "pending": "2"}]
        assert stubs.preflights == [SpendPreflight(("score",), job_ids=(JOB,))]

    asyncio.run(run())


@pytest.mark.parametrize("path", sorted(HISTORIES.glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_history_still_replays(path: Path) -> None:
    """A change that breaks this would break every run that is on its way: CONTRIBUTING says what to do."""
    history = WorkflowHistory.from_json(path.stem, path.read_text(encoding="utf-8"))
    last = history.events[-1].WhichOneof("attributes")
    assert last == f"workflow_execution_{LAST_EVENT[path.stem.rpartition('-')[2]]}_event_attributes"
    asyncio.run(replay(history))


async def replay(history: WorkflowHistory) -> None:
    await Replayer(workflows=collect_workflows()).replay_workflow(history)


async def read_failure(handle: WorkflowHandle[Any, Any]) -> BaseException | None:
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    return caught.value.cause
