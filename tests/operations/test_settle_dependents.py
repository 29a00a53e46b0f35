"""What the end of one stage does to those after it: the decision as a table, and the same on rows."""

from collections.abc import Callable

import pytest

from operations.contracts import ENROLLED_STAGES, StageName
from operations.contracts import StageState as S
from operations.database import writer
from operations.models import JobStageState
from operations.settings_store import change_settings
from operations.stage_engine import Hold, Settlement, StageContext
from operations.stage_engine.dependents import DependentState, Move, decide_moves, list_dependents, settle_dependents
from operations.stage_engine.states import BLOCKING, KEPT_BY_DEPENDENTS
from operations.stage_engine.work import work_job
from tests.operations.cast import FIRST_RUN, PROFILE_VERSION, Cast, ScriptedStage, get_row, list_types, put_row

ENRICH, SCORE, TAILOR, COVER, PDF, APPLY = (
    StageName.ENRICH, StageName.SCORE, StageName.TAILOR, StageName.COVER, StageName.PDF, StageName.APPLY,
)  # fmt: skip
Stages = dict[StageName, ScriptedStage]
BELOW, PASSED = Hold("MIN_SCORE", applies=True), Hold("MIN_SCORE", applies=False)


def rows_of(**states: DependentState | S) -> dict[StageName, DependentState]:
    return {
        StageName(name): state if isinstance(state, DependentState) else DependentState(state)
        for name, state in states.items()
    }


def blocked_by(stage: StageName, reason: str = "UPSTREAM_FAILED") -> DependentState:
    return DependentState(S.BLOCKED, reason, stage)


HELD = DependentState(S.SKIPPED, "MIN_SCORE")


def test_it_lists_what_waits_for_a_stage_nearest_first() -> None:
    assert list_dependents(ENRICH) == [SCORE, TAILOR, COVER, PDF, APPLY]
    assert list_dependents(TAILOR) == [COVER, PDF, APPLY]
    assert list_dependents(PDF) == list_dependents(APPLY) == []


@pytest.mark.parametrize("state", sorted(BLOCKING))
def test_it_blocks_everything_downstream_naming_the_cause(state: S) -> None:
    moves = decide_moves(TAILOR, state, rows_of(cover=S.PENDING, apply=S.PENDING, score=S.SUCCEEDED))
    reason = f"UPSTREAM_{state.upper()}"
    assert moves == [Move(COVER, S.BLOCKED, reason, TAILOR), Move(APPLY, S.BLOCKED, reason, TAILOR)]


@pytest.mark.parametrize("kept", sorted(KEPT_BY_DEPENDENTS))
def test_it_never_overwrites_what_is_at_work_done_or_decided(kept: S) -> None:
    for state in BLOCKING:
        assert decide_moves(TAILOR, state, rows_of(cover=kept)) == []
    if kept is not S.SKIPPED:
        assert decide_moves(TAILOR, S.SUCCEEDED, rows_of(cover=kept)) == []
    assert decide_moves(SCORE, S.SUCCEEDED, rows_of(cover=kept), hold=BELOW) == []


@pytest.mark.parametrize(
    ("stage", "state", "row", "moves"),
    [
        (SCORE, S.FAILED, DependentState(S.FAILED), [Move(TAILOR, S.BLOCKED, "UPSTREAM_FAILED", SCORE)]),
        (SCORE, S.FAILED, DependentState(S.STALE), [Move(TAILOR, S.BLOCKED, "UPSTREAM_FAILED", SCORE)]),
        (SCORE, S.FAILED, blocked_by(SCORE), []),
        (SCORE, S.EXHAUSTED, blocked_by(SCORE), [Move(TAILOR, S.BLOCKED, "UPSTREAM_EXHAUSTED", SCORE)]),
        (SCORE, S.FAILED, blocked_by(ENRICH, "LOW_CONFIDENCE"), []),
        (SCORE, S.SUCCEEDED, blocked_by(SCORE), [Move(TAILOR, S.PENDING, "block_released")]),
        (SCORE, S.SUCCEEDED, blocked_by(ENRICH, "LOW_CONFIDENCE"), []),
        (ENRICH, S.SUCCEEDED, blocked_by(ENRICH, "LOW_CONFIDENCE"), [Move(TAILOR, S.PENDING, "block_released")]),
        (SCORE, S.SUCCEEDED, DependentState(S.SKIPPED, "DECLINED"), []),
        (SCORE, S.SUCCEEDED, DependentState(S.PENDING), []),
        (SCORE, S.PENDING, blocked_by(SCORE), []),
        (SCORE, S.RUNNING, DependentState(S.PENDING), []),
    ],
)
def test_it_releases_only_what_this_cause_blocked(
    stage: StageName, state: S, row: DependentState, moves: list[Move]
) -> None:
    assert decide_moves(stage, state, {TAILOR: row}) == moves


def test_it_ignores_stages_that_have_no_row() -> None:
    assert decide_moves(SCORE, S.FAILED, {}) == []


def test_it_skips_by_policy_and_releases_only_by_the_same_policy() -> None:
    skipped = [Move(stage, S.SKIPPED, "MIN_SCORE") for stage in (TAILOR, COVER, APPLY)]
    waiting = rows_of(tailor=S.PENDING, cover=S.PENDING, apply=blocked_by(TAILOR))
    held = rows_of(tailor=HELD, cover=HELD, apply=HELD)
    assert decide_moves(SCORE, S.SUCCEEDED, waiting, hold=BELOW) == skipped
    assert decide_moves(SCORE, S.SUCCEEDED, held, hold=BELOW) == []
    assert decide_moves(SCORE, S.SUCCEEDED, held) == []
    assert decide_moves(SCORE, S.SUCCEEDED, rows_of(tailor=DependentState(S.SKIPPED, "DECLINED")), hold=PASSED) == []
    assert decide_moves(SCORE, S.SUCCEEDED, held, hold=PASSED) == [
        Move(TAILOR, S.PENDING, "policy_released"),
        Move(COVER, S.BLOCKED, "UPSTREAM_PENDING", TAILOR),
        Move(APPLY, S.BLOCKED, "UPSTREAM_PENDING", TAILOR),
    ]
    assert decide_moves(SCORE, S.SUCCEEDED, rows_of(tailor=S.SUCCEEDED, cover=HELD, apply=HELD), hold=PASSED) == [
        Move(COVER, S.PENDING, "policy_released"),
        Move(APPLY, S.BLOCKED, "UPSTREAM_PENDING", COVER),
    ]


# --- on rows -----------------------------------------------------------------------------------


def read_states(cast: Cast) -> dict[str, str]:
    return dict(JobStageState.objects.filter(job_id=cast.backend).values_list("stage", "state"))


def settle(cast: Cast, hold: Hold | None, state: S = S.SUCCEEDED) -> int:
    with writer():
        return settle_dependents(cast.backend, SCORE, state, hold=hold)


def test_it_skips_with_three_events_and_then_changes_nothing(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    before = len(list_types())
    assert settle(cast, BELOW) == 3
    assert settle(cast, BELOW) == 0
    assert list_types()[before:] == ["StageSkipped"] * 3
    assert read_states(cast) | {"enrich": "pending"} == {
        "enrich": "pending", "score": "pending", "tailor": "skipped", "cover": "skipped", "apply": "skipped",
    }  # fmt: skip

    assert settle(cast, PASSED) == 3
    assert settle(cast, PASSED) == 0
    assert list_types()[before + 3 :] == ["StageReset", "StageBlocked", "StageBlocked"]
    states = read_states(cast)
    assert (states["tailor"], states["cover"], states["apply"]) == ("pending", "blocked", "blocked")
    assert (get_row(cast.backend, COVER).blocked_by, get_row(cast.backend, APPLY).blocked_by) == ("tailor", "tailor")
    assert_rebuild_matches()


def test_it_goes_on_to_the_end_after_a_threshold_was_lowered(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    context = StageContext(FIRST_RUN, PROFILE_VERSION)
    work_job(cast.backend, ENRICH, context)
    stages[SCORE].settlement = Settlement(hold=BELOW)
    work_job(cast.backend, SCORE, context)
    assert [read_states(cast)[name] for name in ("tailor", "cover", "apply")] == ["skipped"] * 3
    assert work_job(cast.backend, TAILOR, context).report.code == "MIN_SCORE"

    change_settings({"min_fit_score": 6}, actor="operator")
    settle(cast, PASSED)
    for name in (TAILOR, COVER, PDF):
        assert work_job(cast.backend, name, context).report.state == S.SUCCEEDED, name
    assert read_states(cast)["apply"] == "pending"
    assert_rebuild_matches()


def test_it_keeps_a_hold_when_a_prerequisite_fails_later(cast: Cast, stages: Stages) -> None:
    settle(cast, BELOW)
    before = len(list_types())
    assert settle(cast, None, S.FAILED) == 0
    assert len(list_types()) == before


@pytest.mark.parametrize("kept", sorted(KEPT_BY_DEPENDENTS))
def test_it_leaves_such_rows_exactly_as_they_are(kept: S, cast: Cast, stages: Stages) -> None:
    for name in ENROLLED_STAGES[2:]:
        put_row(cast.backend, name, kept, attempts=2, reason_code="KEPT", lease_epoch=7)
    before = list(JobStageState.objects.filter(job_id=cast.backend).order_by("id").values())
    for state in BLOCKING:
        assert settle(cast, None, state) == 0
    assert settle(cast, BELOW) == 0
    assert list(JobStageState.objects.filter(job_id=cast.backend).order_by("id").values()) == before
