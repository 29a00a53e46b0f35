"""Each attempt at a job's stages, read back from the stage events of the log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from operations.models import JobEventRow
from operations.wording import Tone, Wording, describe_attempt_end
from operations.wording.stages import LOST

BEGINS: Final = "StageStarted"
ENDS: Final = (
    *("StageCompleted", "StageFailed", "StageExhausted", "StageCanceled", "StageReset"),
    *("StageBlocked", "StageSkipped", "StageNeedsVerification"),
)
MOST_EVENTS: Final = 300
TAKEN_OVER: Final = Wording("Broke off", Tone.IDLE, "Its worker was gone; a later attempt took over.")
AT_WORK: Final = Wording("Running", Tone.RUNNING)


@dataclass(slots=True)
class Attempt:
    """``ended_at`` ``None`` = no end is recorded; ``outcome`` then says whether it runs or cannot be known."""

    number: int
    run_id: str
    started_at: datetime
    ended_at: datetime | None = None
    outcome: Wording = AT_WORK
    message: str = ""

    @property
    def took(self) -> timedelta | None:
        return None if self.ended_at is None else self.ended_at - self.started_at


def list_attempts(job_id: UUID, *, lost: Iterable[str] = ()) -> dict[str, list[Attempt]]:
    """By stage, newest first, out of the job's newest 300 stage events; reads the index of the job's events.

    ``lost`` are the stages whose run cannot be found.
    """
    rows = JobEventRow.objects.filter(job_id=job_id, event_type__in=(BEGINS, *ENDS)).order_by("-id")
    newest = rows.values_list("event_type", "recorded_at", "payload")[:MOST_EVENTS]
    return fold_attempts(reversed(list(newest)), lost=frozenset(lost))


def fold_attempts(
    events: Iterable[tuple[str, datetime, Mapping[str, Any]]], *, lost: frozenset[str] = frozenset()
) -> dict[str, list[Attempt]]:
    """Oldest event first. An end without a beginning (a step skipped before anybody worked on it) is no attempt."""
    found: dict[str, list[Attempt]] = {}
    for event_type, at, body in events:
        attempts = found.setdefault(str(body["stage"]), [])
        current = attempts[-1] if attempts and attempts[-1].ended_at is None else None
        if current is not None:
            current.ended_at = at
            current.outcome = TAKEN_OVER if event_type == BEGINS else describe_attempt_end(event_type, body)
            current.message = str(body.get("message") or "")
        if event_type == BEGINS:
            attempts.append(Attempt(int(body.get("attempt") or 1), str(body.get("runId") or ""), at))
    for stage in lost & found.keys():
        if found[stage] and found[stage][-1].ended_at is None:
            found[stage][-1].outcome = LOST
    return {stage: attempts[::-1] for stage, attempts in found.items()}
