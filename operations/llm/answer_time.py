"""How long one answer of a model is waited for: the operator's JOBCTRL_MODEL_SECONDS."""

from math import isnan, nan
from typing import Final

from django.conf import settings

from operations.errors import NotConfigured

#: One piece of work asks two models, each of them once more where its answer has to be repaired. All four answers, and
#: what is written between them, fit into the shortest time that a stage with a model may have (``policies.MODEL``).
MOST_ANSWERS: Final = 4
LONGEST_SECONDS: Final = 400.0
REMEDY: Final = f"Set it to more than 0 and at most {LONGEST_SECONDS:g}, or leave it out for 150."


def find_fault() -> str:
    """What is wrong with the setting, "" where nothing is."""
    seconds = _read()
    if isnan(seconds):
        return f"JOBCTRL_MODEL_SECONDS: {settings.JOBCTRL_MODEL_SECONDS!r} is not a number of seconds."
    if seconds <= 0:
        return f"JOBCTRL_MODEL_SECONDS: {settings.JOBCTRL_MODEL_SECONDS} leaves a model no time to answer."
    if seconds > LONGEST_SECONDS:
        return f"JOBCTRL_MODEL_SECONDS: {settings.JOBCTRL_MODEL_SECONDS} is longer than the work around it may take."
    return ""


def read_answer_seconds() -> float:
    """Raises ``NotConfigured`` where the setting cannot be used."""
    if fault := find_fault():
        raise NotConfigured(f"{fault} {REMEDY}")
    return _read()


def _read() -> float:
    try:
        return float(settings.JOBCTRL_MODEL_SECONDS)
    except ValueError:
        return nan
