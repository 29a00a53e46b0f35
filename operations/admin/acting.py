"""What every action of the admin does around its call of a service."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest
from django.template.response import TemplateResponse

from operations.errors import OperationsError
from operations.job_actions import ActionRequest, ActionResult, JobAction
from operations.views.acting import describe_result

MOST_AT_ONCE = 200


def take_selected(request: HttpRequest, rows: Any) -> list[Any]:
    """The chosen rows; none, with a message, where they are too many for one request."""
    chosen = list(rows[: MOST_AT_ONCE + 1])
    if len(chosen) > MOST_AT_ONCE:
        messages.error(request, f"At most {MOST_AT_ONCE} rows can be changed at once. Nothing was changed.")
        return []
    return chosen


def ask_once(
    table: Any, request: HttpRequest, rows: Sequence[Any], *, title: str, consequence: str, label: str
) -> TemplateResponse | None:
    """The page that asks before the action; ``None`` once the person has said yes, or with nothing to ask about."""
    if not rows or request.POST.get("confirmed") == "yes":
        return None
    context = {
        **table.admin_site.each_context(request),
        "title": title,
        "opts": table.opts,
        "rows": rows,
        "consequence": consequence,
        "label": label,
        "action": request.POST.get("action", ""),
        "checkbox": ACTION_CHECKBOX_NAME,
    }
    return TemplateResponse(request, "admin/confirm_action.html", context)


def say_outcomes(request: HttpRequest, rows: Sequence[Any], act: Callable[[Any], str], *, done: str) -> None:
    """Call ``act`` for each row; it returns what to say of that row, "" = only to be counted under ``done``."""
    count = 0
    for row in rows:
        try:
            said = act(row)
        except OperationsError as error:
            messages.error(request, f"{row}: {error.message}")
            continue
        if said:
            messages.success(request, said)
        else:
            count += 1
    if count:
        messages.success(request, f"{done}: {count}.")


def perform_on_jobs(
    request: HttpRequest, action: JobAction, job_ids: Sequence[UUID], *, options: dict[str, Any] | None = None
) -> ActionResult | None:
    """One registered job action over these jobs, and its outcome as a message."""
    asked = ActionRequest(job_ids, str(request.user.get_username()), options or {})
    try:
        result = action.perform(asked)
    except OperationsError as error:
        messages.error(request, error.message)
        return None
    tone = messages.success if result.done else messages.warning
    tone(request, describe_result(action, result))
    return result


def row_action(description: str) -> Callable[[Any], Any]:
    """``admin.action`` for whoever may see the table: no row here may be edited, so no other leave exists."""
    return admin.action(permissions=["view"], description=description)
