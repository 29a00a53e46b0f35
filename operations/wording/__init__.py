"""The words for states and codes: the same on every page, in the API's sentences and on the terminal."""

from operations.wording.attempts import describe_attempt_end
from operations.wording.codes import Reason, describe_code
from operations.wording.events import describe_event
from operations.wording.facts import describe_facts
from operations.wording.jobs import describe_job
from operations.wording.quantities import count_of, describe_distance, describe_money, describe_seconds
from operations.wording.runs import describe_run, name_workflow
from operations.wording.stages import STAGE_NAMES, STRIP_STAGES, StageMark, describe_entry, describe_stage, mark_stage
from operations.wording.steps import describe_steps
from operations.wording.tones import Tone, Wording

__all__ = [
    "STAGE_NAMES",
    "STRIP_STAGES",
    "Reason",
    "StageMark",
    "Tone",
    "Wording",
    "count_of",
    "describe_attempt_end",
    "describe_code",
    "describe_distance",
    "describe_entry",
    "describe_event",
    "describe_facts",
    "describe_job",
    "describe_money",
    "describe_run",
    "describe_seconds",
    "describe_stage",
    "describe_steps",
    "mark_stage",
    "name_workflow",
]
