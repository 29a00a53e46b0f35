"""The one thing to say about a job in a list."""

from collections.abc import Mapping
from typing import Any, Final

from operations.contracts import StageName, StageState
from operations.wording.stages import STRIP_STAGES, StageMark, describe_entry, mark_stage, read_entry
from operations.wording.tones import Tone, Wording

_ORDER: Final = (*STRIP_STAGES, StageName.APPLY)


def describe_job(
    stages: Mapping[str, str | Mapping[str, Any]],
    *,
    fit_score: int | None = None,
    threshold: int = 0,
    active_state: str = "active",
    hidden: bool = False,
    deleted: bool = False,
) -> Wording:
    """Where a job stands now: what runs, else what needs a person, cannot be known, or waits.

    ``threshold`` 0 = not known. ``stages`` holds a state or a detail entry for each stage, as the projections do.
    """
    if deleted:
        return Wording("You deleted this job", Tone.IDLE, "Restore it to go on.")
    if hidden:
        return Wording("You hid this job", Tone.IDLE, "Show it again to go on.")
    marks = {stage: mark_stage(stages.get(stage)) for stage in _ORDER}
    for wanted in (StageMark.RUNNING, StageMark.FAILED, StageMark.UNKNOWN):
        found = next((stage for stage, mark in marks.items() if mark is wanted), None)
        if found is not None:
            return describe_entry(found, stages[found])
    if active_state == "closed":
        return Wording("The posting is closed", Tone.IDLE)
    if all(marks[stage] is StageMark.DONE for stage in STRIP_STAGES):
        return Wording("Applied", Tone.GOOD) if marks[StageName.APPLY] is StageMark.DONE else READY
    current = next(stage for stage in STRIP_STAGES if marks[stage] is not StageMark.DONE)
    entry = stages.get(current)
    if read_entry(entry)[0] is StageState.SKIPPED and fit_score is not None and fit_score < threshold:
        return Wording(f"Below your threshold of {threshold}", Tone.IDLE, "Lower it in Settings to prepare this job.")
    return describe_entry(current, entry)


READY: Final = Wording("Documents ready", Tone.GOOD, "Read them, then apply.")
