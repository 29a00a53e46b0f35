"""The states of a stage on their own, for a filter; a chip says them together with the stage."""

from typing import Final

from operations.contracts import StageState

STATE_NAMES: Final[dict[str, str]] = {
    StageState.PENDING: "Still to come",
    StageState.QUEUED: "In line",
    StageState.RUNNING: "At work",
    StageState.SUCCEEDED: "Done",
    StageState.FAILED: "Failed",
    StageState.EXHAUSTED: "Failed too often",
    StageState.NEEDS_VERIFICATION: "Waits for your check",
    StageState.BLOCKED: "Held up",
    StageState.STALE: "Out of date",
    StageState.SKIPPED: "Left out by your rule",
    StageState.CANCELED: "Canceled",
}
