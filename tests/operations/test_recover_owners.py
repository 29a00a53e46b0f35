"""Rows whose owner nobody watches: released by an explicit end of that exact run alone, and only what it was started for."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from temporalio.client import Client

from operations import queries
from operations.contracts import PipelineInput, PreparationInput, RunStatus, StageName, StageState, WorkflowOutcome
from operations.contracts import WorkflowStart as Start
from operations.database import writer
from operations.queries import HeldBy
from operations.services import owner_recovery
from operations.services.describing import Description, Found
from operations.services.owner_recovery import Answer, Origin, ask_about, build_origin, recover_owners
from operations.services.runs import record_not_found, record_outcome, record_started
from operations.stage_engine import Owner, publish_stage
from operations.workspace import ensure_workspace
from tests.operations.cast import FIRST_RUN, SECOND_RUN, Cast, ScriptedStage, claim, get_row, list_types, put_row
from tests.operations.workflow_runs import INPUTS, Stubs, serving, start
from tests.temporal import TemporalServer

ENRICH, SCORE = StageName.ENRICH, StageName.SCORE
Stages = dict[StageName, ScriptedStage]
Check = Callable[[], None]
FAILED = Description(Found.CLOSED, RunStatus.FAILED, "internal")
CANCELED = Description(Found.CLOSED, RunStatus.CANCELED)


class Temporal:
    """Answers by run ID as scripted, and remembers which runs it was asked about."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[HeldBy] = []


@pytest.fixture
def temporal(monkeypatch: pytest.MonkeyPatch) -> Temporal:
    scripted = Temporal()

    def ask(_client: object, owners: list[HeldBy]) -> list[Answer]:
        scripted.asked += owners
        missing = Answer(Description(Found.NOT_FOUND))
        return [scripted.answers.get(owner.run_id, missing) for owner in owners]

    monkeypatch.setattr(owner_recovery, "call_temporal", lambda work: work(None))
    monkeypatch.setattr(owner_recovery, "ask_about", ask)
    monkeypatch.setattr(owner_recovery._Turn, "after", HeldBy("", ""))
    return scripted


def prepare(job_id: UUID, *steps: str) -> dict[str, Any]:
    given = PreparationInput(str(job_id), "0" * 32, 1, ensure_workspace().identity, steps or ("score",))
    return {**asdict(given), "steps": list(given.steps)}


def answer(job_id: UUID, *steps: str, description: Description = FAILED) -> Answer:
    return Answer(description, "JobPreparationWorkflow", prepare(job_id, *steps))


@pytest.fixture
def scored(cast: Cast, stages: Stages) -> Cast:
    """Two scores with different owners, of which our records know nothing."""
    for job_id in cast:
        publish_stage(claim(job_id, ENRICH), "result")
    claim(cast.backend, SCORE, FIRST_RUN)
    claim(cast.data, SCORE, SECOND_RUN)
    return cast


def test_it_restores_a_saved_score_of_the_recovered_owner_alone(
    scored: Cast, stages: Stages, temporal: Temporal, assert_rebuild_matches: Check
) -> None:
    with writer():
        stages[SCORE].save_result(scored.backend)
        stages[SCORE].save_result(scored.data)
    temporal.answers = {"run-first": answer(scored.backend), "run-second": Answer(Description(Found.RUNNING))}

    assert recover_owners() == 1

    assert get_row(scored.backend, SCORE).state == StageState.SUCCEEDED
    assert get_row(scored.data, SCORE).state == StageState.RUNNING
    assert list_types(job_id=scored.backend).count("JobScored") == 1
    assert sorted(temporal.asked) == [HeldBy("run-first", "prep-first"), HeldBy("run-second", "prep-second")]
    assert_rebuild_matches()


def test_it_fails_what_has_no_result_and_says_so_once(
    scored: Cast, temporal: Temporal, assert_rebuild_matches: Check
) -> None:
    temporal.answers = {"run-first": answer(scored.backend)}
    assert (recover_owners(), recover_owners()) == (1, 0)
    row = get_row(scored.backend, SCORE)
    assert (row.state, row.error_code, row.retryable) == (StageState.FAILED, "OWNER_ENDED", True)
    assert_rebuild_matches()


def test_it_cancels_what_a_canceled_run_holds(scored: Cast, temporal: Temporal) -> None:
    temporal.answers = {"run-first": answer(scored.backend, description=CANCELED)}
    assert recover_owners() == 1
    assert get_row(scored.backend, SCORE).state == StageState.CANCELED


def test_a_reserved_row_of_a_closed_run_waits_again(scored: Cast, temporal: Temporal) -> None:
    ids = {"owner_workflow_id": "prep-third", "owner_run_id": "run-third"}
    put_row(scored.sales, SCORE, StageState.QUEUED, **ids)
    temporal.answers = {"run-third": answer(scored.sales)}
    assert recover_owners() == 1
    row = get_row(scored.sales, SCORE)
    assert (row.state, row.attempts) == (StageState.PENDING, 0)


@pytest.mark.parametrize("found", [Found.RUNNING, Found.NOT_FOUND, Found.UNKNOWN])
def test_nothing_but_an_explicit_end_releases_anything(scored: Cast, temporal: Temporal, found: Found) -> None:
    temporal.answers = {"run-first": replace(answer(scored.backend), description=Description(found))}
    before = list_types()
    assert recover_owners() == 0
    assert get_row(scored.backend, SCORE).state == StageState.RUNNING
    assert list_types() == before


@pytest.mark.parametrize("case", ["other job", "other step", "other workspace", "other kind of run", "no input"])
def test_it_leaves_what_the_run_was_not_started_for(scored: Cast, temporal: Temporal, case: str) -> None:
    given = {
        "other job": answer(scored.data),
        "other step": answer(scored.backend, "tailor", "cover"),
        "other workspace": Answer(
            FAILED, "JobPreparationWorkflow", {**prepare(scored.backend), "workspace_identity": "f" * 64}
        ),
        "other kind of run": Answer(FAILED, "ApplyWorkflow", prepare(scored.backend)),
        "no input": Answer(FAILED),
    }
    temporal.answers = {"run-first": given[case]}
    assert recover_owners() == 0
    assert get_row(scored.backend, SCORE).state == StageState.RUNNING


def test_it_asks_about_no_run_that_others_ask_about(scored: Cast, temporal: Temporal) -> None:
    """An open run and one whose end is only assumed are the reconciler's; one with a recorded end is asked about."""
    record_started(Start("prep-first", "run-first", "JobPreparationWorkflow", {}))
    record_started(Start("prep-second", "run-second", "JobPreparationWorkflow", {}))
    record_not_found("run-second", "prep-second", "JobPreparationWorkflow", episode=1)
    assert (recover_owners(), temporal.asked) == (0, [])


@pytest.mark.parametrize("forgotten", [False, True])
def test_it_comes_back_for_what_the_end_of_its_run_could_not_settle(
    scored: Cast,
    stages: Stages,
    temporal: Temporal,
    monkeypatch: pytest.MonkeyPatch,
    assert_rebuild_matches: Check,
    forgotten: bool,
) -> None:
    """Also where Temporal has forgotten the run: our log holds its end."""
    find = stages[SCORE].find_result_version

    def raise_always(job_id: UUID) -> int:
        raise LookupError

    monkeypatch.setattr(stages[SCORE], "find_result_version", raise_always)
    record_outcome(WorkflowOutcome("prep-first", "run-first", "JobPreparationWorkflow", RunStatus.FAILED, "internal"))
    assert get_row(scored.backend, SCORE).state == StageState.RUNNING
    temporal.answers = {} if forgotten else {"run-first": answer(scored.backend)}
    assert recover_owners() == 0

    monkeypatch.setattr(stages[SCORE], "find_result_version", find)
    assert recover_owners() == 1
    assert get_row(scored.backend, SCORE).state == StageState.FAILED
    assert_rebuild_matches()


def test_every_owner_has_its_turn_however_many_stay_unknown(
    cast: Cast, stages: Stages, temporal: Temporal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_recovery, "MOST_OWNERS", 2)
    for number, job_id in enumerate(cast):
        claim(job_id, ENRICH, Owner(f"w-{number}", f"r-{number}"))
    for _ in range(3):
        recover_owners()
    assert [owner.run_id for owner in temporal.asked] == ["r-0", "r-1", "r-2", "r-3", "r-0", "r-1"]


def test_it_asks_nobody_where_nothing_is_held(cast: Cast, stages: Stages, temporal: Temporal) -> None:
    put_row(cast.backend, ENRICH, StageState.RUNNING, owner_run_id="")
    assert (recover_owners(), temporal.asked) == (0, [])


@pytest.mark.django_db
def test_it_reads_what_a_start_admits() -> None:
    job_id, mine = uuid4(), ensure_workspace().identity
    pipeline = asdict(PipelineInput("cover", 1, mine, (str(job_id),)))
    assert build_origin("JobPipelineWorkflow", pipeline) == Origin(frozenset(["cover"]), frozenset([job_id]))
    assert build_origin("JobPipelineWorkflow", {**pipeline, "job_ids": None}) == Origin(frozenset(["cover"]), None)
    assert build_origin("DiscoverWorkflow", {"workspace_identity": mine}) == Origin(frozenset(["enrich"]), None)
    for broken in ({**pipeline, "job_ids": ["x"]}, {"workspace_identity": mine}, {**pipeline, "job_ids": 3}, [], None):
        assert build_origin("JobPipelineWorkflow", broken) is None


# --- against a real server ---------------------------------------------------------------------


@pytest.mark.temporal
def test_it_reads_the_end_and_the_start_of_the_exact_run(server: TemporalServer) -> None:
    async def run() -> list[Answer]:
        async with asyncio.timeout(30):
            client = await Client.connect(server.address)
            stubs = Stubs()
            async with serving(client, stubs):
                handle = await start(client, stubs, "JobPreparationWorkflow", INPUTS["JobPreparationWorkflow"], run="a")
                await handle.result()
                known = HeldBy(handle.first_execution_run_id or "", handle.id)
                return await ask_about(client, [known, replace_run(known)])

    def replace_run(owner: HeldBy) -> HeldBy:
        return owner._replace(run_id=str(uuid4()))

    closed, other = asyncio.run(run())
    given = INPUTS["JobPreparationWorkflow"]
    assert closed.description == Description(Found.CLOSED, RunStatus.SUCCEEDED)
    assert closed.workflow_type == "JobPreparationWorkflow"
    assert closed.given == {**asdict(given), "steps": list(given.steps)}
    assert other.description.found is Found.NOT_FOUND
    assert other.given is None


def test_the_query_names_each_owner_once(scored: Cast) -> None:
    claim(scored.sales, SCORE, FIRST_RUN)
    assert sorted(queries.list_unwatched_owners()) == [
        HeldBy("run-first", "prep-first"),
        HeldBy("run-second", "prep-second"),
    ]
