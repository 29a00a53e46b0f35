"""Resetting: back to pending with attempts at 0, accepted content kept, nothing taken from live work."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from operations.contracts import StageName, StageState
from operations.models import JobEventRow
from operations.services.stages import reset_stages
from operations.stage_engine import StageContext
from operations.stage_engine.work import work_job
from tests.operations.cast import (
    FIRST_RUN,
    PROFILE_VERSION,
    Cast,
    ScriptedStage,
    claim,
    get_row,
    list_types,
    put_row,
)

ENRICH, SCORE = StageName.ENRICH, StageName.SCORE
Stages = dict[StageName, ScriptedStage]
CONTEXT = StageContext(FIRST_RUN, PROFILE_VERSION)


def test_it_refuses_live_work_and_rows_that_need_no_reset(cast: Cast, stages: Stages) -> None:
    claim(cast.backend, ENRICH)
    put_row(cast.data, ENRICH, StageState.QUEUED)
    stranger, before = uuid4(), list_types()
    report = reset_stages(ENRICH, [cast.backend, cast.data, cast.sales, stranger])

    assert report.reset == ()
    assert report.refused == {
        cast.backend: "ACTIVE_WORK",
        cast.data: "ACTIVE_WORK",
        cast.sales: "ALREADY_PENDING",
        stranger: "NO_SUCH_ROW",
    }
    assert list_types() == before
    assert get_row(cast.backend, ENRICH).state == StageState.RUNNING
    assert get_row(cast.data, ENRICH).state == StageState.QUEUED


@pytest.mark.parametrize(
    "state", [s for s in StageState if s not in (StageState.PENDING, StageState.QUEUED, StageState.RUNNING)]
)
def test_it_resets_every_state_in_which_nobody_works(state: StageState, cast: Cast, stages: Stages) -> None:
    put_row(cast.backend, ENRICH, state, attempts=5, error_code="X", reason_code="Y", retryable=False, lease_epoch=3)
    assert reset_stages(ENRICH, [cast.backend]).reset == (cast.backend,)
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts, row.retryable, row.lease_epoch) == (StageState.PENDING, 0, True, 4)
    assert (row.error_code, row.error_message, row.reason_code, row.blocked_by) == ("", "", "", "")
    event = JobEventRow.objects.get(event_type="StageReset")
    assert (event.payload["fromState"], event.payload["reasonCode"], event.payload["attempts"]) == (
        state,
        "operator",
        0,
    )


def test_it_keeps_accepted_content_and_lets_the_stage_run_again(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    work_job(cast.backend, ENRICH, CONTEXT)
    work_job(cast.backend, SCORE, CONTEXT)
    reset_stages(ENRICH, [cast.backend])

    assert list_types(job_id=cast.backend).count("JobEnriched") == 1
    assert get_row(cast.backend, SCORE).state == StageState.SUCCEEDED, "later results are not thrown away"
    assert claim(cast.backend, ENRICH).baseline_version == 1
    assert_rebuild_matches()


def test_it_resets_each_row_of_a_batch_or_says_why_not(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    work_job(cast.backend, ENRICH, CONTEXT)
    claim(cast.data, ENRICH)
    report = reset_stages(ENRICH, list(cast), reason_code="retry")
    assert report.reset == (cast.backend,)
    assert set(report.refused) == {cast.data, cast.sales, cast.office}
    assert_rebuild_matches()


def test_it_leaves_what_waits_blocked_until_the_stage_succeeds(cast: Cast, stages: Stages) -> None:
    from operations.errors import StageFailure

    stages[ENRICH].script = [StageFailure("No text.", code="NO_CONTENT")]
    work_job(cast.backend, ENRICH, CONTEXT)
    reset_stages(ENRICH, [cast.backend])
    assert get_row(cast.backend, SCORE).state == StageState.BLOCKED
    work_job(cast.backend, ENRICH, CONTEXT)
    assert get_row(cast.backend, SCORE).state == StageState.PENDING
