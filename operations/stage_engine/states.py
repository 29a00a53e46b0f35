"""The state machine of a stage row. A transition that is not listed is refused by name."""

from operations.contracts import StageState as S
from operations.errors import IllegalTransition

#: From each state, where a row may go. ``pending`` is reached by a reset, ``running`` by a claim.
TRANSITIONS: dict[S, frozenset[S]] = {
    S.PENDING: frozenset({S.QUEUED, S.RUNNING, S.SUCCEEDED, S.BLOCKED, S.SKIPPED, S.CANCELED, S.EXHAUSTED}),
    S.QUEUED: frozenset({S.PENDING, S.RUNNING, S.BLOCKED, S.SKIPPED, S.CANCELED, S.EXHAUSTED}),
    S.RUNNING: frozenset(
        {S.PENDING, S.RUNNING, S.SUCCEEDED, S.FAILED, S.BLOCKED, S.SKIPPED, S.EXHAUSTED, S.CANCELED,
         S.NEEDS_VERIFICATION}
    ),
    S.SUCCEEDED: frozenset({S.PENDING, S.STALE}),
    S.FAILED: frozenset({S.PENDING, S.QUEUED, S.RUNNING, S.BLOCKED, S.SKIPPED, S.CANCELED, S.EXHAUSTED}),
    S.BLOCKED: frozenset({S.PENDING, S.SKIPPED, S.BLOCKED, S.CANCELED}),
    S.SKIPPED: frozenset({S.PENDING, S.BLOCKED}),
    S.EXHAUSTED: frozenset({S.PENDING}),
    S.NEEDS_VERIFICATION: frozenset({S.PENDING, S.SUCCEEDED, S.FAILED}),
    S.STALE: frozenset({S.PENDING, S.QUEUED, S.RUNNING, S.BLOCKED, S.SKIPPED, S.CANCELED, S.EXHAUSTED}),
    S.CANCELED: frozenset({S.PENDING}),
}  # fmt: skip

#: States in which a claim may start work.
CLAIMABLE = frozenset({S.PENDING, S.QUEUED, S.FAILED, S.STALE})
#: States that what happens upstream never overwrites.
KEPT_BY_DEPENDENTS = frozenset(
    {S.QUEUED, S.RUNNING, S.SUCCEEDED, S.SKIPPED, S.CANCELED, S.EXHAUSTED, S.NEEDS_VERIFICATION}
)
#: An upstream stage in one of these states blocks what depends on it.
BLOCKING = frozenset({S.FAILED, S.EXHAUSTED, S.BLOCKED, S.CANCELED, S.NEEDS_VERIFICATION})


def check_transition(stage: str, before: str, after: str) -> None:
    """Raise ``IllegalTransition`` naming the stage and both states unless the move is listed."""
    if S(after) not in TRANSITIONS[S(before)]:
        raise IllegalTransition(f"{stage} cannot go from {before} to {after}")
