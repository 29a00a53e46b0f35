"""Pipeline steps of an execution as a table shows them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from operations.contracts import ErrorCode
from operations.wording.codes import describe_code
from operations.wording.quantities import count_of
from operations.wording.tones import Tone, Wording

STEP_NAMES: Final = {
    "source_planning": "Planning the sources",
    "source_family": "Reading the boards",
    "enrichment_pass": "Reading the postings",
    "preparation_fanout": "Starting the preparations",
    "existing_backlog_sweep": "Looking through earlier jobs",
    "pdf_render": "Printing documents",
}
_COUNTS: Final = {
    "families": "kind of source,kinds of source",
    "postings": "posting",
    "new": "new job",
    "updated": "changed",
    "skipped": "skipped",
    "succeeded": "read",
    "failed": "failed",
    "planned": "planned",
    "started": "started",
    "notEligible": "left out",
    "pages": "page",
}
FAMILY_NAMES: Final = {"ats": "employers' boards", "bundled": "sample boards"}
_LEFT: Final = {"queued": Wording("Not begun", Tone.IDLE), "running": Wording("Stopped", Tone.IDLE)}
_LOST: Final = Wording(
    "Unknown: its run cannot be found",
    Tone.UNKNOWN,
    "Temporal no longer knows this run; start it again if it is needed.",
)
_UNCHECKED: Final = Wording("Not checked", Tone.UNKNOWN, "It was under way when Temporal last answered.")
#: What may pass by itself ("Errors" of the contracts).
_PASSING: Final = frozenset(
    {
        ErrorCode.TRANSIENT_NETWORK,
        ErrorCode.BROWSER_TRANSIENT,
        ErrorCode.LLM_TRANSIENT,
        ErrorCode.SOURCE_UNAVAILABLE,
        ErrorCode.WORKER_SHUTDOWN,
    }
)
_INVARIABLE: Final = frozenset({"changed", "skipped", "read", "failed", "planned", "started", "left out"})


class StepRow(Protocol):
    kind: str
    item_key: str
    state: str
    attempt: int
    error_code: str
    counts_json: Mapping[str, Any]
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ShownStep:
    label: str
    detail: str
    state: Wording
    counts: str
    finished_at: datetime | None


def describe_steps(
    rows: Sequence[StepRow],
    *,
    is_over: bool = False,
    is_lost: bool = False,
    is_retried: bool = False,
    is_checked: bool = True,
) -> list[ShownStep]:
    """Each step in words, in the order of the work; PDF renders, one a job, are gathered into one line.

    ``is_over``: the run has ended, so what has not ended by then never will; renders belong to runs of their own.
    ``is_lost``: that end is only assumed. ``is_retried``: a failure that may pass is tried again without a person.
    Not ``is_checked``: Temporal cannot be asked whether what was under way still is.
    """
    order = list(STEP_NAMES)
    rows = sorted(rows, key=lambda row: order.index(row.kind) if row.kind in order else len(order))
    prints = [row for row in rows if row.kind == "pdf_render"]
    shown = [
        _describe(row, is_over=is_over, is_lost=is_lost, is_retried=is_retried, is_checked=is_checked)
        for row in rows
        if row.kind != "pdf_render"
    ]
    if prints:
        shown.append(_gather(prints, is_checked=is_checked))
    return shown


def describe_step_state(state: str, *, error_code: str = "", is_retried: bool = False) -> Wording:
    reason = describe_code(error_code)
    match state:
        case "queued":
            return Wording("Waits its turn", Tone.WAITING)
        case "running":
            return Wording("Running", Tone.RUNNING)
        case "succeeded":
            return Wording("Done", Tone.GOOD)
        case "failed" if error_code == "canceled":
            return Wording("Canceled", Tone.IDLE)
        case "failed":
            tone = Tone.WAITING if is_retried and error_code in _PASSING else Tone.PERSON
            return Wording(f"Failed: {reason.short}" if reason else "Failed", tone, reason.remedy if reason else "")
    return Wording("Not known", Tone.UNKNOWN)


def _describe(row: StepRow, *, is_over: bool, is_lost: bool, is_retried: bool, is_checked: bool) -> ShownStep:
    parts = [
        name_family(row.item_key) if row.kind == "source_family" else "",
        f"attempt {row.attempt}" if row.attempt > 1 else "",
    ]
    if is_over and row.state in _LEFT:
        state = _describe_left(row.state, is_lost=is_lost)
    elif row.state == "running" and not is_checked:
        state = _UNCHECKED
    else:
        state = describe_step_state(row.state, error_code=row.error_code, is_retried=is_retried)
    return ShownStep(
        STEP_NAMES.get(row.kind, row.kind),
        ", ".join(part for part in parts if part),
        state,
        describe_counts(row.counts_json.items()),
        row.finished_at,
    )


def _describe_left(state: str, *, is_lost: bool) -> Wording:
    return _LOST if is_lost and state == "running" else _LEFT[state]


def _gather(rows: Sequence[StepRow], *, is_checked: bool) -> ShownStep:
    done = sum(row.state == "succeeded" for row in rows)
    failed = next((row for row in rows if row.state == "failed"), None)
    state = "failed" if failed else "succeeded" if done == len(rows) else "running"
    ends = [row.finished_at for row in rows if row.finished_at is not None]
    known = describe_step_state(state, error_code=failed.error_code if failed else "")
    return ShownStep(
        STEP_NAMES["pdf_render"],
        "",
        _UNCHECKED if state == "running" and not is_checked else known,
        f"{done} of {count_of(len(rows), 'job')}",
        max(ends) if ends and len(ends) == len(rows) else None,
    )


def name_family(family: str) -> str:
    """What kind of source was read; a name without words stays as it is."""
    return FAMILY_NAMES.get(family, family)


def describe_counts(counts: Iterable[tuple[str, Any]]) -> str:
    """The counts that a person asks about, those that are 0 left out."""
    parts = []
    for name, value in counts:
        noun = _COUNTS.get(name)
        if noun is None or not isinstance(value, int) or not value:
            continue
        singular, _, plural = noun.partition(",")
        parts.append(f"{value:,} {singular}" if noun in _INVARIABLE else count_of(value, singular, plural))
    return ", ".join(parts)
