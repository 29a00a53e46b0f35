"""Pipeline steps: orchestration work of one execution, known by its four lifecycle events."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from operations.contracts import ErrorCode, ExecutionRef, StepKind
from operations.database import OUTAGES, writer
from operations.ended_runs import check_run
from operations.errors import RunStopped
from operations.eventlog import Event, append
from operations.events import PipelineStepCompleted, PipelineStepFailed, PipelineStepQueued, PipelineStepStarted
from operations.metrics import record_attempt
from operations.queries import list_open_steps
from operations.wording import describe_code

ITEM_KEY_LIMIT = 120
SOURCE_ROLE_LIMIT = 40
_OUTCOMES = {"": "succeeded", "canceled": "canceled"}


class StepCounts(dict[str, int]):
    """What a running step has counted so far; recorded with its end."""


@contextmanager
def recorded_step(ref: ExecutionRef, kind: StepKind, *, item_key: str = "", attempt: int = 1) -> Iterator[StepCounts]:
    """Record a step's start, and its end on every path: completed, failed with a code, or canceled.

    The lifecycle has no canceled end, so a canceled step ends failed with the code ``canceled``. Raises ``RunStopped``
    where the run has ended or is to stop: should this process then die, nobody would end the step.
    """
    counts = StepCounts()
    began = monotonic()
    with writer():
        check_run(ref.run_id)
        start_step(ref, kind, item_key=item_key, attempt=attempt)
    try:
        yield counts
    except Exception as error:
        code = getattr(error, "type", None) or getattr(error, "code", None) or _name(error)
        fail_step(
            ref,
            kind,
            error_code=str(code)[:80],
            counts=counts,
            item_key=item_key,
            attempt=attempt,
            duration_ms=_elapsed_ms(began),
        )
        raise
    complete_step(ref, kind, counts=counts, item_key=item_key, attempt=attempt, duration_ms=_elapsed_ms(began))


def _elapsed_ms(began: float) -> int:
    return int((monotonic() - began) * 1000)


def _name(error: Exception) -> str:
    """As the activity's own failure is named (``operations/worker/interceptor.py``)."""
    if isinstance(error, OUTAGES):
        return ErrorCode.DATABASE_UNAVAILABLE
    return "canceled" if type(error).__name__ == "CancelledError" else "unexpected_error"


def queue_step(ref: ExecutionRef, kind: StepKind, *, item_key: str = "", attempt: int = 1) -> None:
    _append(PipelineStepQueued, "queued", ref, kind, item_key=item_key, attempt=attempt)


def start_step(ref: ExecutionRef, kind: StepKind, *, item_key: str = "", attempt: int = 1) -> None:
    _append(PipelineStepStarted, "started", ref, kind, item_key=item_key, attempt=attempt)


def complete_step(
    ref: ExecutionRef,
    kind: StepKind,
    *,
    counts: dict[str, int],
    item_key: str = "",
    attempt: int = 1,
    duration_ms: int = 0,
) -> None:
    """``duration_ms`` 0 = not measured; of the metric only."""
    with writer():
        if _append(PipelineStepCompleted, "ended", ref, kind, item_key=item_key, attempt=attempt, counts=counts):
            _measure(ref, kind, item_key=item_key, attempt=attempt, counts=counts, duration_ms=duration_ms)


def fail_step(
    ref: ExecutionRef,
    kind: StepKind,
    *,
    error_code: str,
    counts: dict[str, int] | None = None,
    item_key: str = "",
    attempt: int = 1,
    duration_ms: int = 0,
) -> None:
    facts: dict[str, object] = {"error_code": error_code, "counts": counts or {}}
    with writer():
        if _append(PipelineStepFailed, "ended", ref, kind, item_key=item_key, attempt=attempt, **facts):
            _measure(
                ref,
                kind,
                item_key=item_key,
                attempt=attempt,
                counts=counts or {},
                duration_ms=duration_ms,
                error_code=error_code,
            )


def fail_open_steps(ref: ExecutionRef, *, error_code: str) -> None:
    """With the run's end, inside ``writer()``: whatever is still open can no longer end by itself."""
    for kind, item_key, attempt in list_open_steps(ref):
        fail_step(ref, kind, error_code=error_code or RunStopped.code, item_key=item_key, attempt=attempt)


def _measure(
    ref: ExecutionRef,
    kind: StepKind,
    *,
    item_key: str,
    attempt: int,
    counts: dict[str, int],
    duration_ms: int,
    error_code: str = "",
) -> None:
    """The step's operational metric, beside its first end. A PDF's is that of its stage."""
    if kind is StepKind.PDF_RENDER:
        return
    reason = describe_code(error_code)
    record_attempt(
        stage=kind,
        attempt_kind="step",
        attempt=attempt,
        outcome=_OUTCOMES.get(error_code, "failed"),
        counts=dict(counts),
        duration_ms=duration_ms,
        error_class=error_code,
        error_message=f"{reason.short[0].upper()}{reason.short[1:]}. {reason.remedy}".strip() if reason else "",
        run_id=ref.run_id,
        source_role=item_key[:SOURCE_ROLE_LIMIT] if kind is StepKind.SOURCE_FAMILY else "",
    )


def _append(
    build: Callable[..., Event],
    phase: str,
    ref: ExecutionRef,
    kind: StepKind,
    *,
    item_key: str,
    attempt: int,
    **facts: object,
) -> bool:
    """One lifecycle event under its exact key: of two ends the first one stays, and a repeat does nothing."""
    item = item_key[:ITEM_KEY_LIMIT]
    with writer():
        logged = append(
            build(workflow_id=ref.workflow_id, run_id=ref.run_id, kind=kind, item_key=item, attempt=attempt, **facts),
            key=f"step:{ref.run_id}:{kind}:{item}:{attempt}:{phase}",
        )
    return logged is not None
