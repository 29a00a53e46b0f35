"""Pipeline steps: orchestration work of one execution, known by its four lifecycle events."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from operations.contracts import ExecutionRef, StepKind
from operations.database import writer
from operations.eventlog import Event, append
from operations.events import PipelineStepCompleted, PipelineStepFailed, PipelineStepQueued, PipelineStepStarted

ITEM_KEY_LIMIT = 120


class StepCounts(dict[str, int]):
    """What a running step has counted so far; recorded with its end."""


@contextmanager
def recorded_step(ref: ExecutionRef, kind: StepKind, *, item_key: str = "", attempt: int = 1) -> Iterator[StepCounts]:
    """Record a step's start, and its end on every path: completed, failed with a code, or canceled.

    The lifecycle has no canceled end, so a canceled step ends failed with the code ``canceled``.
    """
    counts = StepCounts()
    start_step(ref, kind, item_key=item_key, attempt=attempt)
    try:
        yield counts
    except Exception as error:
        code = getattr(error, "type", None) or getattr(error, "code", None) or _name(error)
        fail_step(ref, kind, error_code=str(code)[:80], counts=counts, item_key=item_key, attempt=attempt)
        raise
    complete_step(ref, kind, counts=counts, item_key=item_key, attempt=attempt)


def _name(error: Exception) -> str:
    return "canceled" if type(error).__name__ == "CancelledError" else "unexpected_error"


def queue_step(ref: ExecutionRef, kind: StepKind, *, item_key: str = "", attempt: int = 1) -> None:
    _append(PipelineStepQueued, "queued", ref, kind, item_key=item_key, attempt=attempt)


def start_step(ref: ExecutionRef, kind: StepKind, *, item_key: str = "", attempt: int = 1) -> None:
    _append(PipelineStepStarted, "started", ref, kind, item_key=item_key, attempt=attempt)


def complete_step(
    ref: ExecutionRef, kind: StepKind, *, counts: dict[str, int], item_key: str = "", attempt: int = 1
) -> None:
    _append(PipelineStepCompleted, "ended", ref, kind, item_key=item_key, attempt=attempt, counts=counts)


def fail_step(
    ref: ExecutionRef,
    kind: StepKind,
    *,
    error_code: str,
    counts: dict[str, int] | None = None,
    item_key: str = "",
    attempt: int = 1,
) -> None:
    facts: dict[str, object] = {"error_code": error_code, "counts": counts or {}}
    _append(PipelineStepFailed, "ended", ref, kind, item_key=item_key, attempt=attempt, **facts)


def _append(
    build: Callable[..., Event],
    phase: str,
    ref: ExecutionRef,
    kind: StepKind,
    *,
    item_key: str,
    attempt: int,
    **facts: object,
) -> None:
    """One lifecycle event under its exact key: of two ends the first one stays, and a repeat does nothing."""
    item = item_key[:ITEM_KEY_LIMIT]
    with writer():
        append(
            build(workflow_id=ref.workflow_id, run_id=ref.run_id, kind=kind, item_key=item, attempt=attempt, **facts),
            key=f"step:{ref.run_id}:{kind}:{item}:{attempt}:{phase}",
        )
