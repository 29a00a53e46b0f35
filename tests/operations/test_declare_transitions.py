"""The state machine of a stage row: every pair of states, and refusals by name."""

from uuid import uuid4

import pytest

from operations.contracts import StageName
from operations.contracts import StageState as S
from operations.database import writer
from operations.errors import IllegalTransition
from operations.stage_engine.rows import move_row
from operations.stage_engine.states import BLOCKING, CLAIMABLE, KEPT_BY_DEPENDENTS, TRANSITIONS, check_transition
from tests.operations.cast import get_row, list_types, put_row

#: From each state: P pending, Q queued, R running, S succeeded, F failed, B blocked, K skipped, X exhausted,
#: V needs_verification, T stale, C canceled. Written out by hand, so that a change is a decision.
ALLOWED = {
    S.PENDING: "Q R S B K C X",
    S.QUEUED: "P R B K C X",
    S.RUNNING: "P R S F B K X C V",
    S.SUCCEEDED: "P T",
    S.FAILED: "P Q R B K C X",
    S.BLOCKED: "P K B C",
    S.SKIPPED: "P B",
    S.EXHAUSTED: "P",
    S.NEEDS_VERIFICATION: "P S F",
    S.STALE: "P Q R B K C X",
    S.CANCELED: "P",
}
LETTERS = dict(zip("PQRSFBKXVTC", [
    S.PENDING, S.QUEUED, S.RUNNING, S.SUCCEEDED, S.FAILED, S.BLOCKED, S.SKIPPED, S.EXHAUSTED, S.NEEDS_VERIFICATION,
    S.STALE, S.CANCELED,
], strict=True))  # fmt: skip


@pytest.mark.parametrize("after", S)
@pytest.mark.parametrize("before", S)
def test_it_knows_for_each_pair_whether_a_row_may_go_there(before: S, after: S) -> None:
    if after in {LETTERS[letter] for letter in ALLOWED[before].split()}:
        check_transition("score", before, after)
    else:
        with pytest.raises(IllegalTransition, match=f"^score cannot go from {before} to {after}$"):
            check_transition("score", before, after)


def test_it_lets_a_claim_start_and_end_from_every_claimable_state() -> None:
    for state in CLAIMABLE:
        assert {S.RUNNING, S.EXHAUSTED, S.BLOCKED, S.SKIPPED} <= TRANSITIONS[state], state


def test_it_can_reset_every_state_that_is_not_pending() -> None:
    assert all(S.PENDING in TRANSITIONS[state] for state in S if state is not S.PENDING)


def test_it_may_block_whatever_it_does_not_keep() -> None:
    assert all(S.BLOCKED in TRANSITIONS[state] for state in S if state not in KEPT_BY_DEPENDENTS)
    assert S.SUCCEEDED not in BLOCKING and S.PENDING not in BLOCKING


def test_it_changes_nothing_when_a_move_is_refused(db: None) -> None:
    job_id = uuid4()
    put_row(job_id, StageName.SCORE, S.EXHAUSTED, attempts=5)
    row = get_row(job_id, StageName.SCORE)
    with pytest.raises(IllegalTransition), writer():
        move_row(row, S.RUNNING, None, attempts=6)
    assert (get_row(job_id, StageName.SCORE).state, get_row(job_id, StageName.SCORE).attempts) == (S.EXHAUSTED, 5)
    assert list_types() == []
