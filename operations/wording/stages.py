"""One job's stages in words and marks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from django.utils import timezone

from operations.contracts import WAITED_FOR, StageName, StageState
from operations.wording.codes import Reason, describe_code
from operations.wording.quantities import describe_reset
from operations.wording.tones import Tone, Wording


@dataclass(frozen=True, slots=True)
class StageWords:
    """``noun`` heads columns and failures ("Tailoring failed"), ``doing`` and ``done`` stand on chips."""

    label: str
    noun: str
    doing: str
    done: str
    waits: str


STAGE_NAMES: Final[dict[str, StageWords]] = {
    StageName.DISCOVER: StageWords("Discover", "Discovery", "Reading the boards", "Discovered", "Waits for discovery"),
    StageName.ENRICH: StageWords("Enrich", "Reading", "Reading the posting", "Posting read", "Waits to be read"),
    StageName.SCORE: StageWords("Score", "Scoring", "Scoring", "Scored", "Waits to be scored"),
    StageName.TAILOR: StageWords("Tailor", "Tailoring", "Tailoring the resume", "Resume ready", "Waits for a resume"),
    StageName.COVER: StageWords(
        "Cover", "Letter writing", "Writing cover letter", "Letter ready", "Waits for a letter"
    ),
    StageName.PDF: StageWords("PDF", "Printing", "Printing documents", "Documents ready", "Waits to be printed"),
    StageName.APPLY: StageWords("Apply", "Applying", "Applying", "Applied", "Ready to apply"),
}

#: The five blocks of a stage strip, in order.
STRIP_STAGES: Final = (StageName.ENRICH, StageName.SCORE, StageName.TAILOR, StageName.COVER, StageName.PDF)

#: Of a stage that a run holds which cannot be found; the entry then carries ``ownerLost``.
LOST: Final = Wording(
    "Unknown: its run cannot be found",
    Tone.UNKNOWN,
    "The run that worked on this cannot be found. Release the step on the job's page, then run it again.",
)
_BY_RULE: Final = frozenset({"MIN_SCORE", "JOB_DELETED", "POSTING_CLOSED"})


def describe_stage(
    stage: str,
    state: str,
    *,
    code: str = "",
    retryable: bool = True,
    blocked_by: str = "",
    attempt: int = 0,
    max_attempts: int = 0,
    since: datetime | None = None,
) -> Wording:
    """Where a job stands in one stage. ``code`` is the row's error or reason code, 0 attempts = not known.

    ``since`` is when it came there: what waits for the budget of a day that is over waits only to be started again.
    """
    words, reason = STAGE_NAMES[stage], describe_code(code)
    because = f": {reason.short}" if reason else ""
    remedy = reason.remedy if reason else ""
    tries = f" ({attempt} of {max_attempts})" if attempt and max_attempts else ""
    match StageState(state):
        case StageState.RUNNING:
            return Wording(words.doing, Tone.RUNNING, f"Attempt {attempt} is running." if attempt > 1 else "")
        case StageState.SUCCEEDED:
            return Wording(words.done, Tone.GOOD)
        case StageState.PENDING if code in WAITED_FOR and reason:
            return _describe_waiting(code, reason, since)
        case StageState.PENDING:
            return Wording(words.waits, Tone.IDLE)
        case StageState.QUEUED:
            return Wording(f"In line for {words.noun.lower()}", Tone.WAITING, "It starts as soon as a slot is free.")
        case StageState.STALE:
            return Wording(f"{words.noun} is out of date", Tone.WAITING, "Something it was made from has changed.")
        case StageState.FAILED if retryable:
            return Wording(f"{words.noun} is tried again{tries}{because}", Tone.WAITING, remedy)
        case StageState.FAILED:
            return Wording(f"{words.noun} failed{because}", Tone.PERSON, remedy or "Try again.")
        case StageState.EXHAUSTED:
            return Wording(
                f"{words.noun} failed too often{because}", Tone.PERSON, remedy or "Retry to start its attempts afresh."
            )
        case StageState.NEEDS_VERIFICATION:
            return Wording("Check whether it was sent", Tone.PERSON, "It stopped at a point that only you can judge.")
        case StageState.CANCELED:
            return Wording(f"{words.noun} canceled{because}", Tone.IDLE, remedy)
        case StageState.SKIPPED:
            return Wording(reason.short.capitalize() if reason else f"{words.noun} skipped", Tone.IDLE, remedy)
        case StageState.BLOCKED:
            return _describe_block(words, code, blocked_by)


def _describe_waiting(code: str, reason: Reason, since: datetime | None) -> Wording:
    word = f"{reason.short[0].upper()}{reason.short[1:]}"
    if code != "budget":
        return Wording(word, Tone.WAITING, reason.remedy)
    if since is not None and since.astimezone(UTC).date() < timezone.now().astimezone(UTC).date():
        return Wording("Waits to be started again", Tone.WAITING, "The budget is new again; run this step now.")
    return Wording(f"{word}, {describe_reset()}", Tone.WAITING, reason.remedy)


def _describe_block(words: StageWords, code: str, blocked_by: str) -> Wording:
    reason = describe_code(code)
    if blocked_by in STAGE_NAMES and (code.startswith(("UPSTREAM_", "WAITS_FOR_")) or reason is None):
        return Wording(f"Waits for {STAGE_NAMES[blocked_by].noun.lower()}", Tone.IDLE)
    if code in _BY_RULE and reason:
        return Wording(reason.short.capitalize(), Tone.IDLE, reason.remedy)
    because = f": {reason.short}" if reason else ""
    return Wording(f"{words.noun} is held up{because}", Tone.WAITING, reason.remedy if reason else "")


def describe_entry(stage: str, entry: str | Mapping[str, Any] | None) -> Wording:
    """The same of a state, or of an entry in the detail projection."""
    if is_lost(entry):
        return LOST
    state, retryable, code, blocked_by, attempt = read_entry(entry)
    at = str(entry.get("at") or "") if isinstance(entry, Mapping) else ""
    return describe_stage(
        stage,
        state,
        code=code,
        retryable=retryable,
        blocked_by=blocked_by,
        attempt=attempt,
        since=datetime.fromisoformat(at) if at else None,
    )


class StageMark(StrEnum):
    """The fillings of a strip's block."""

    DONE = "done"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    TODO = "todo"
    UNKNOWN = "unknown"


_MARKS: Final = {
    StageState.SUCCEEDED: StageMark.DONE,
    StageState.RUNNING: StageMark.RUNNING,
    StageState.QUEUED: StageMark.WAITING,
    StageState.STALE: StageMark.WAITING,
    StageState.FAILED: StageMark.FAILED,
    StageState.EXHAUSTED: StageMark.FAILED,
    StageState.NEEDS_VERIFICATION: StageMark.FAILED,
}


def mark_stage(entry: str | Mapping[str, Any] | None) -> StageMark:
    """The block of one stage: of its state, or of its entry in the detail projection."""
    if is_lost(entry):
        return StageMark.UNKNOWN
    state, retryable, code = read_entry(entry)[:3]
    if (state is StageState.FAILED and retryable) or code in WAITED_FOR:
        return StageMark.WAITING
    return _MARKS.get(state, StageMark.TODO)


def is_lost(entry: str | Mapping[str, Any] | None) -> bool:
    return isinstance(entry, Mapping) and bool(entry.get("ownerLost"))


def read_entry(entry: str | Mapping[str, Any] | None) -> tuple[StageState, bool, str, str, int]:
    """State, retryable, code, blocking stage and attempt of a stage; a bare failed state counts as final."""
    if not entry:
        return StageState.PENDING, True, "", "", 0
    if isinstance(entry, str):
        return StageState(entry), False, "", "", 0
    code = str(entry.get("errorCode") or entry.get("reasonCode") or "")
    blocked_by, attempt = str(entry.get("blockedBy") or ""), int(entry.get("attempt") or 0)
    return StageState(entry["state"]), bool(entry.get("retryable")), code, blocked_by, attempt
