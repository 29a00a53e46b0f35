"""Revoking: the exact run that holds a stage is canceled and seen to end before the stage is put back."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from operations.contracts import RunStatus, StageName, StageState, WorkflowOutcome, WorkflowStart
from operations.database import current_write, writer
from operations.errors import WorkerUnavailable
from operations.models import JobEventRow
from operations.services import cancellation
from operations.services.cancellation import NotCancelable, revoke_stages
from operations.services.runs import record_cancel_intent, record_not_found, record_outcome, record_started
from tests.operations.cast import FIRST_RUN, SECOND_RUN, Cast, ScriptedStage, claim, get_row, list_types, put_row

ENRICH = StageName.ENRICH
IDS = (FIRST_RUN.workflow_id, FIRST_RUN.run_id, "JobPreparationWorkflow")
OWN = {"owner_workflow_id": FIRST_RUN.workflow_id, "owner_run_id": FIRST_RUN.run_id}
Stages = dict[StageName, ScriptedStage]
Check = Callable[[], None]


class Runs:
    """Accepts cancellations as Temporal does. ``obeys`` = the run then records its end."""

    def __init__(self) -> None:
        self.obeys = True
        self.canceled: list[tuple[str, str]] = []
        self.before_end: Callable[[], None] = lambda: None

    def cancel(self, run_id: str, *, requester: str = "") -> None:
        assert current_write() is None
        self.canceled.append((run_id, requester))
        record_cancel_intent(FIRST_RUN.workflow_id, run_id)
        if self.obeys:
            self.before_end()
            end()


def end(status: RunStatus = RunStatus.CANCELED) -> None:
    record_outcome(WorkflowOutcome(*IDS, status))


@pytest.fixture
def runs(cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> Runs:
    record_started(WorkflowStart(*IDS, {}))
    found = Runs()
    monkeypatch.setattr(cancellation, "cancel_run", found.cancel)
    monkeypatch.setattr(cancellation, "END_SECONDS", 0.3)
    monkeypatch.setattr(cancellation, "LOOK_SECONDS", 0.01)
    return found


def revoke(*job_ids: UUID) -> tuple[list[UUID], dict[UUID, str]]:
    report = revoke_stages(ENRICH, job_ids, requester="mara")
    return list(report.reset), report.refused


@pytest.mark.parametrize("state", [StageState.QUEUED, StageState.RUNNING])
def test_it_cancels_the_run_sees_it_end_and_puts_the_stage_back(
    cast: Cast, runs: Runs, state: StageState, assert_rebuild_matches: Check
) -> None:
    claim(cast.backend, ENRICH)
    if state is StageState.QUEUED:
        put_row(cast.backend, ENRICH, state, attempts=0)

    assert revoke(cast.backend) == ([cast.backend], {})

    assert runs.canceled == [("run-first", "mara")]
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts, row.owner_run_id) == (StageState.PENDING, 0, "")
    types = list_types()
    assert types.index("WorkflowCanceled") < types.index("StageReset")
    assert JobEventRow.objects.get(event_type="StageReset").payload["reasonCode"] == "revoked"
    assert claim(cast.backend, ENRICH, SECOND_RUN).attempt == 1
    assert_rebuild_matches()


def test_it_leaves_the_stage_where_its_run_does_not_end_in_time(cast: Cast, runs: Runs) -> None:
    runs.obeys = False
    claim(cast.backend, ENRICH)
    assert revoke(cast.backend) == ([], {cast.backend: "STILL_ENDING"})
    assert get_row(cast.backend, ENRICH).state == StageState.RUNNING
    assert "StageReset" not in list_types()

    end()
    assert revoke(cast.backend) == ([cast.backend], {}), "repeating it once the run has ended finishes it"
    assert runs.canceled == [("run-first", "mara")]


def test_it_asks_a_run_of_many_jobs_once_and_touches_no_successor(
    cast: Cast, runs: Runs, assert_rebuild_matches: Check
) -> None:
    claim(cast.backend, ENRICH)
    claim(cast.data, ENRICH)

    def hand_over() -> None:
        end()
        revoked = revoke_stages(ENRICH, [cast.data])
        assert revoked.reset == (cast.data,)
        claim(cast.data, ENRICH, SECOND_RUN)

    runs.before_end = hand_over
    assert revoke(cast.backend, cast.data) == ([cast.backend], {cast.data: "ACTIVE_WORK"})
    assert runs.canceled == [("run-first", "mara")]
    assert get_row(cast.data, ENRICH).owner_run_id == "run-second"
    assert_rebuild_matches()


def test_a_result_that_came_before_the_end_is_kept(cast: Cast, stages: Stages, runs: Runs) -> None:
    claim(cast.backend, ENRICH)

    def commit() -> None:
        with writer():
            stages[ENRICH].save_result(cast.backend)

    runs.before_end = commit
    assert revoke(cast.backend) == ([], {cast.backend: "RESULT_KEPT"})
    assert get_row(cast.backend, ENRICH).state == StageState.SUCCEEDED


@pytest.mark.parametrize("case", ["no record", "assumed end", "no owner"])
def test_it_resets_nothing_of_a_run_that_nobody_can_ask(cast: Cast, runs: Runs, case: str) -> None:
    owner = {"no record": "run-other", "assumed end": "run-first", "no owner": ""}[case]
    put_row(cast.backend, ENRICH, StageState.QUEUED, owner_workflow_id="w", owner_run_id=owner)
    if case == "assumed end":
        record_not_found(FIRST_RUN.run_id, FIRST_RUN.workflow_id, "JobPreparationWorkflow", episode=1)
    assert revoke(cast.backend) == ([], {cast.backend: "OWNER_LOST"})
    assert (get_row(cast.backend, ENRICH).state, runs.canceled) == (StageState.QUEUED, [])


def test_it_waits_for_the_record_of_a_run_that_temporal_has_ended(
    cast: Cast, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(run_id: str, **_: object) -> None:
        end(RunStatus.TERMINATED)
        raise NotCancelable

    monkeypatch.setattr(cancellation, "cancel_run", refuse)
    put_row(cast.backend, ENRICH, StageState.QUEUED, **OWN)
    assert revoke(cast.backend) == ([cast.backend], {})


def test_it_says_what_there_is_nothing_to_take_from(cast: Cast, runs: Runs) -> None:
    stranger = uuid4()
    put_row(cast.data, ENRICH, StageState.SUCCEEDED)
    assert revoke(cast.backend, cast.data, stranger) == (
        [],
        {cast.backend: "NOT_HELD", cast.data: "NOT_HELD", stranger: "NO_SUCH_ROW"},
    )
    assert runs.canceled == []


def test_without_temporal_nothing_changes(cast: Cast, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(run_id: str, **_: object) -> None:
        raise WorkerUnavailable

    monkeypatch.setattr(cancellation, "cancel_run", fail)
    put_row(cast.backend, ENRICH, StageState.QUEUED, **OWN)
    with pytest.raises(WorkerUnavailable):
        revoke(cast.backend)
    assert get_row(cast.backend, ENRICH).state == StageState.QUEUED
