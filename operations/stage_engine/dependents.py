"""What a stage's ending means for the stages that wait for it.

A failure blocks them with the upstream state; a success releases what that cause blocked, and
nothing else; a policy hold skips them and is released only by itself: the nearest one is then
pending and those after it wait as blocked (spec/06 A, Recovering interrupted preparation).
"""

from dataclasses import dataclass
from uuid import UUID

from operations.contracts import STAGE_AFTER, StageName, StageState
from operations.models import JobStageState
from operations.stage_engine.declaration import Hold
from operations.stage_engine.rows import RowMove, load_rows, move_rows, plan_block, plan_reset, plan_skip
from operations.stage_engine.states import BLOCKING, KEPT_BY_DEPENDENTS


@dataclass(frozen=True, slots=True)
class DependentState:
    """What the decision needs to know of one dependent row."""

    state: StageState
    reason_code: str = ""
    blocked_by: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    stage: StageName
    to: StageState
    reason_code: str
    blocked_by: str = ""


def list_dependents(stage: StageName) -> list[StageName]:
    """Every stage that waits for this one, directly or not, nearest first."""
    found: list[StageName] = []
    frontier = [stage]
    while frontier:
        frontier = [later for later, before in STAGE_AFTER.items() if before in frontier]
        found.extend(frontier)
    return found


def decide_moves(
    stage: StageName,
    state: StageState,
    rows: dict[StageName, DependentState],
    *,
    hold: Hold | None = None,
) -> list[Move]:
    """The moves that ``stage`` having ended in ``state`` asks of its dependents; pure."""
    moves: list[Move] = []
    for later in list_dependents(stage):
        row = rows.get(later)
        if row is None:
            continue
        if hold is not None and (move := _decide_hold(stage, later, rows, hold)):
            moves.append(move)
            continue
        if hold is not None and hold.applies:
            continue
        if state in BLOCKING:
            reason = f"UPSTREAM_{state.upper()}"
            already = row.state is StageState.BLOCKED and (row.blocked_by != stage or row.reason_code == reason)
            if row.state not in KEPT_BY_DEPENDENTS and not already:
                moves.append(Move(later, StageState.BLOCKED, reason, stage))
        elif state is StageState.SUCCEEDED and row.state is StageState.BLOCKED and row.blocked_by == stage:
            moves.append(Move(later, StageState.PENDING, "block_released"))
    return moves


def _decide_hold(stage: StageName, later: StageName, rows: dict[StageName, DependentState], hold: Hold) -> Move | None:
    row = rows[later]
    held = row.state is StageState.SKIPPED and row.reason_code == hold.code
    if hold.applies:
        if held or row.state in KEPT_BY_DEPENDENTS:
            return None
        return Move(later, StageState.SKIPPED, hold.code)
    if not held:
        return None
    cause = _find_unfinished_between(stage, later, rows)
    if cause is None:
        return Move(later, StageState.PENDING, "policy_released")
    return Move(later, StageState.BLOCKED, "UPSTREAM_PENDING", cause)


def _find_unfinished_between(
    stage: StageName, later: StageName, rows: dict[StageName, DependentState]
) -> StageName | None:
    """The first stage after ``stage`` that ``later`` still waits for."""
    between: list[StageName] = []
    before = STAGE_AFTER[later]
    while before is not None and before != stage:
        between.append(before)
        before = STAGE_AFTER[before]
    waiting = (name for name in reversed(between) if name in rows and rows[name].state is not StageState.SUCCEEDED)
    return next(waiting, None)


def settle_dependents(job_id: UUID, stage: StageName, state: StageState, *, hold: Hold | None = None) -> int:
    """Apply ``decide_moves`` to a job's rows inside ``writer()``; returns the number of changes."""
    rows = load_rows(job_id)
    known = {name: DependentState(StageState(row.state), row.reason_code, row.blocked_by) for name, row in rows.items()}
    moves = decide_moves(stage, state, known, hold=hold)
    move_rows([_plan(rows[move.stage], move) for move in moves])
    return len(moves)


def _plan(row: JobStageState, move: Move) -> RowMove:
    if move.to is StageState.BLOCKED:
        return plan_block(row, reason_code=move.reason_code, blocked_by=move.blocked_by)
    if move.to is StageState.SKIPPED:
        return plan_skip(row, reason_code=move.reason_code)
    return plan_reset(row, reason_code=move.reason_code)
