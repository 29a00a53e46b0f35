"""Releasing: an operator takes a stage from a run that nobody can find, and whoever comes back late has lost it."""

from collections.abc import Callable

import pytest

from operations.contracts import RunStatus, StageName, StageState, WorkflowOutcome, WorkflowStart
from operations.errors import LeaseLost
from operations.folding.engine import FAILING, flag_app
from operations.models import JobEventRow, OperationalAttemptMetric
from operations.services import releasing
from operations.services.describing import Description, Found
from operations.services.releasing import ReleaseRefused, release_stages
from operations.services.runs import record_not_found, record_outcome, record_recovered, record_started
from operations.stage_engine import publish_stage, settle_failure
from tests.operations.cast import FIRST_RUN, SECOND_RUN, Cast, ScriptedStage, claim, get_row, list_types, put_row

ENRICH, SCORE = StageName.ENRICH, StageName.SCORE
IDS = (FIRST_RUN.workflow_id, FIRST_RUN.run_id, "JobPreparationWorkflow")
Stages = dict[StageName, ScriptedStage]
Rebuilt = Callable[[], None]


def begin() -> None:
    record_started(WorkflowStart(*IDS, {}))


def lose() -> None:
    record_not_found(FIRST_RUN.run_id, FIRST_RUN.workflow_id, "JobPreparationWorkflow", episode=1)


def test_a_late_predecessor_publishes_nothing(cast: Cast, stages: Stages, assert_rebuild_matches: Rebuilt) -> None:
    begin()
    late = claim(cast.backend, ENRICH)
    lose()

    assert release_stages(ENRICH, [cast.backend], actor="mara").released == (cast.backend,)

    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts, row.lease_epoch) == (StageState.PENDING, 1, late.epoch + 1)
    with pytest.raises(LeaseLost):
        publish_stage(late, "result")
    with pytest.raises(LeaseLost):
        settle_failure(late, code="NO_CONTENT", message="", retryable=False)
    assert "JobEnriched" not in list_types(job_id=cast.backend)
    assert claim(cast.backend, ENRICH, SECOND_RUN).attempt == 2, "the lost attempt counts"
    assert_rebuild_matches()


def test_it_leaves_an_audit_event_that_names_who_and_whose(
    cast: Cast, stages: Stages, assert_rebuild_matches: Rebuilt
) -> None:
    begin()
    claim(cast.backend, ENRICH)
    lose()
    release_stages(ENRICH, [cast.backend], actor="mara")

    reset = JobEventRow.objects.get(event_type="StageReset")
    assert (reset.payload["reasonCode"], reset.payload["fromState"], reset.payload["attempts"]) == (
        "owner_recovered",
        "running",
        1,
    )
    audit = JobEventRow.objects.get(event_type="StageReleased")
    assert not audit.typed
    assert audit.job_id == cast.backend
    assert {name: audit.payload[name] for name in ("stage", "fromState", "runId", "actor")} == {
        "stage": "enrich",
        "fromState": "running",
        "runId": FIRST_RUN.run_id,
        "actor": "mara",
    }
    metric = OperationalAttemptMetric.objects.get()
    assert (metric.outcome, metric.error_class, metric.run_id) == ("released", "OWNER_LOST", FIRST_RUN.run_id)
    assert_rebuild_matches()


def test_releasing_again_changes_nothing(cast: Cast, stages: Stages) -> None:
    begin()
    claim(cast.backend, ENRICH)
    lose()
    release_stages(ENRICH, [cast.backend], actor="mara")
    before, epoch = list_types(), get_row(cast.backend, ENRICH).lease_epoch

    again = release_stages(ENRICH, [cast.backend, cast.backend], actor="mara")

    assert (again.released, again.refused) == ((), {cast.backend: "NOT_HELD"})
    assert (list_types(), get_row(cast.backend, ENRICH).lease_epoch) == (before, epoch)


def test_it_takes_nothing_from_a_run_that_is_open_or_came_back(cast: Cast, stages: Stages) -> None:
    begin()
    claim(cast.backend, ENRICH)
    assert release_stages(ENRICH, [cast.backend], actor="mara").refused == {cast.backend: "RUN_OPEN"}
    lose()
    record_recovered(FIRST_RUN.run_id, FIRST_RUN.workflow_id, "JobPreparationWorkflow", episode=1)
    assert release_stages(ENRICH, [cast.backend], actor="mara").refused == {cast.backend: "RUN_OPEN"}
    assert get_row(cast.backend, ENRICH).state == StageState.RUNNING


def test_it_believes_temporal_where_our_records_are_behind(
    cast: Cast, stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin()
    claim(cast.backend, ENRICH)
    lose()
    answer = Description(Found.RUNNING)
    monkeypatch.setattr(releasing, "describe_runs", lambda _client, runs: [answer for _ in runs])
    monkeypatch.setattr(releasing, "call_temporal", lambda work: work(None))
    assert release_stages(ENRICH, [cast.backend], actor="mara").refused == {cast.backend: "RUN_OPEN"}
    answer = Description(Found.NOT_FOUND)
    assert release_stages(ENRICH, [cast.backend], actor="mara").released == (cast.backend,)


def test_it_releases_what_no_recorded_run_holds_and_queued_rows(
    cast: Cast, stages: Stages, assert_rebuild_matches: Rebuilt
) -> None:
    claim(cast.backend, ENRICH)
    put_row(cast.data, ENRICH, StageState.QUEUED, owner_run_id="run-gone", lease_epoch=4)

    report = release_stages(ENRICH, [cast.backend, cast.data, cast.sales], actor="mara")

    assert report.released == (cast.backend, cast.data)
    assert report.refused == {cast.sales: "NOT_HELD"}
    assert (get_row(cast.data, ENRICH).state, get_row(cast.data, ENRICH).lease_epoch) == (StageState.PENDING, 5)
    assert_rebuild_matches()


def test_it_releases_a_row_that_a_truly_ended_run_left_behind(cast: Cast, stages: Stages) -> None:
    begin()
    record_outcome(WorkflowOutcome(*IDS, RunStatus.TERMINATED))
    put_row(cast.backend, ENRICH, StageState.RUNNING, owner_run_id=FIRST_RUN.run_id)
    assert release_stages(ENRICH, [cast.backend], actor="mara").released == (cast.backend,)


def test_it_accepts_a_result_that_was_committed_before(
    cast: Cast, stages: Stages, assert_rebuild_matches: Rebuilt
) -> None:
    from operations.database import writer

    begin()
    claim(cast.backend, ENRICH)
    lose()
    with writer():
        stages[ENRICH].save_result(cast.backend)
    release_stages(ENRICH, [cast.backend], actor="mara")
    assert get_row(cast.backend, ENRICH).state == StageState.SUCCEEDED
    assert_rebuild_matches()


def test_it_refuses_while_what_is_known_of_runs_is_behind_the_log(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH)
    flag_app("operations", state=FAILING, error_code="X", failed_event_id=1)
    with pytest.raises(ReleaseRefused, match="behind the log"):
        release_stages(ENRICH, [cast.backend], actor="mara")
    assert get_row(cast.backend, ENRICH).state == StageState.RUNNING
