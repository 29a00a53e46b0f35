"""What a run has pending, in words."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from operations.wording.codes import describe_code
from operations.wording.stages import STAGE_NAMES
from operations.wording.steps import STEP_NAMES
from operations.wording.tones import Tone, Wording

_ACTIVITIES: Final = {
    "plan_sources": STEP_NAMES["source_planning"],
    "crawl_source_family": STEP_NAMES["source_family"],
    "enrich_jobs": STEP_NAMES["enrichment_pass"],
    "fan_out_preparations": STEP_NAMES["preparation_fanout"],
    "select_jobs": "Choosing the jobs",
}
_STOPPING: Final = Wording("Stopping", Tone.WAITING, "It stops at the next safe point.")
_OLD: Final = Wording(
    "Not known now", Tone.UNKNOWN, "This was so when Temporal was last asked; no worker has asked since."
)


class PendingFacts(Protocol):
    @property
    def activity_type(self) -> str: ...
    @property
    def attempt(self) -> int: ...
    @property
    def maximum_attempts(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def error_code(self) -> str: ...
    @property
    def next_attempt_at(self) -> datetime | None: ...
    @property
    def is_fresh(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class ShownPending:
    """``next_at`` is set while the next attempt is waited for."""

    label: str
    attempt: str
    state: Wording
    why: str
    next_at: datetime | None


def name_activity(activity_type: str) -> str:
    """As people call it; a type without a name keeps its own."""
    stage = activity_type.removesuffix("_jobs").removesuffix("_job")
    named = STAGE_NAMES[stage].doing if stage in STAGE_NAMES else ""
    return _ACTIVITIES.get(activity_type) or named or activity_type.replace("_", " ")


def describe_attempt(pending: PendingFacts) -> str:
    of = f" of {pending.maximum_attempts}" if pending.maximum_attempts else ""
    return f"attempt {pending.attempt}{of}"


def describe_pending(pending: PendingFacts, *, is_checked: bool = True) -> ShownPending:
    """An observation that is old, or that Temporal cannot be asked about (not ``is_checked``), is told as what was,
    never as what is."""
    is_current = pending.is_fresh and is_checked
    reason = describe_code(pending.error_code)
    return ShownPending(
        name_activity(pending.activity_type),
        describe_attempt(pending),
        _describe_state(pending) if is_current else _OLD,
        reason.short if reason else "an unexpected error" if pending.error_code else "",
        pending.next_attempt_at if is_current and pending.state == "waiting" else None,
    )


def describe_retrying(pending: PendingFacts) -> Wording:
    """The chip of a run that tries this again now."""
    shown = describe_pending(pending)
    tone = Tone.RUNNING if pending.state == "running" else Tone.WAITING
    because = f", after {shown.why}" if shown.why else ""
    return Wording(f"Retrying, {shown.attempt}", tone, f"{shown.label}{because}.")


def _describe_state(pending: PendingFacts) -> Wording:
    if pending.state == "stopping":
        return _STOPPING
    if pending.state == "running":
        return Wording("Trying again" if pending.attempt > 1 else "Running", Tone.RUNNING)
    if pending.attempt > 1:
        return Wording("Will be tried again", Tone.WAITING, "It is tried again by itself.")
    return Wording("Waits for the worker", Tone.WAITING, "It begins when a worker is free.")
