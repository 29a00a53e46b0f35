"""Turning a posted form into a job action, and its result into a sentence."""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest

from operations.errors import OperationsError
from operations.job_actions import ActionRequest, ActionResult, JobAction
from operations.services.starts import Started
from operations.wording import count_of, describe_code

KEY_LIMIT = 200


def perform(request: HttpRequest, action: JobAction, job_ids: Sequence[UUID]) -> bool:
    """Perform it and say what happened and what comes next; a refusal is said too, and changes nothing. False where
    the action as a whole was refused."""
    asked = ActionRequest(
        job_ids,
        str(request.user.get_username()),
        {name: request.POST[name] for name in ("stage",) if request.POST.get(name)},
        request.POST.get("key", "")[:KEY_LIMIT],
    )
    try:
        result = action.perform(asked)
    except OperationsError as error:
        messages.error(request, error.message)
        return False
    tone = messages.success if result.done else messages.warning
    tone(request, describe_result(action, result))
    return True


def describe_result(action: JobAction, result: ActionResult) -> str:
    """What was done, and for each reason how many were refused."""
    parts = []
    if result.done:
        parts.append(f"{action.label}: {count_of(len(result.done), 'job')}.")
    if result.started:
        parts.append(describe_started(result.started))
    for code, count in Counter(result.refused.values()).most_common():
        reason = describe_code(code) or describe_code(code.lower())
        why = reason.short if reason else "nothing would change"
        remedy = f" {reason.remedy}" if reason and reason.remedy else ""
        parts.append(f"{count_of(count, 'job')} left as before: {why}.{remedy}")
    return " ".join(parts) or "Nothing was changed."


def describe_started(started: Started) -> str:
    if started.note:
        return started.note
    return "It was running already." if started.existing else "The run has started; this page follows it."
