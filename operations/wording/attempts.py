"""How one attempt at a stage ended, in words."""

from collections.abc import Mapping
from typing import Any

from operations.contracts import ErrorCode
from operations.wording.codes import describe_code
from operations.wording.tones import Tone, Wording

_RESETS = {
    "budget": Wording("Waits for the budget", Tone.WAITING, "It does not count as an attempt."),
    "worker_shutdown": Wording("Broke off", Tone.IDLE, "The worker stopped; it does not count as an attempt."),
    "owner_recovered": Wording("Broke off", Tone.IDLE, "Its run was gone, so the step was put back to be done."),
}


def describe_attempt_end(event_type: str, payload: Mapping[str, Any]) -> Wording:
    """Of the event that ended it. What is red here is what a person was needed for then."""
    code = str(payload.get("errorCode") or payload.get("reasonCode") or "")
    reason = describe_code(code)
    because, remedy = (f": {reason.short}", reason.remedy) if reason else ("", "")
    match event_type:
        case "StageCompleted" if payload.get("reused"):
            return Wording("Done", Tone.GOOD, "A result was found that had been stored before.")
        case "StageCompleted":
            return Wording("Done", Tone.GOOD)
        case "StageFailed" if payload.get("retryable") or code == ErrorCode.BUDGET_EXCEEDED:
            return Wording(f"Failed{because}", Tone.WAITING, remedy)
        case "StageFailed":
            return Wording(f"Failed{because}", Tone.PERSON, remedy)
        case "StageExhausted":
            return Wording(f"Failed, the last time{because}", Tone.PERSON, remedy)
        case "StageCanceled":
            return Wording("Canceled", Tone.IDLE, remedy)
        case "StageNeedsVerification":
            return Wording("Stopped for your check", Tone.PERSON)
        case "StageReset":
            return _RESETS.get(code, Wording("Put back to be done", Tone.IDLE))
    return Wording(f"Held up{because}" if event_type == "StageBlocked" else f"Left out{because}", Tone.IDLE, remedy)
