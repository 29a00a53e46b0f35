"""The settings, the operator's password, and the API tokens."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from operations.access.accounts import set_password
from operations.access.actors import require_actor
from operations.access.throttle import forgive, reserve_attempt
from operations.access.tokens import create_token, list_tokens, revoke_token
from operations.errors import InvalidSetting
from operations.settings_store import NEXT_RUN, WORKER_RESTART, change_settings, list_settings
from operations.views.confirming import ask_first
from operations.views.providers import list_providers, list_unready_lanes
from operations.views.settings_form import build_groups, list_changes
from operations.views.sign_in import describe_wait
from operations.wording.lanes import join_lanes

LABEL_LIMIT = 80
PASSWORD_LIMIT = 1000


@require_http_methods(["GET", "HEAD", "POST"])
def show_settings(request: HttpRequest) -> HttpResponse:
    """The page, or with ``?fragment=groups`` its settings alone; its POST saves one group, all of it or nothing."""
    if request.method != "POST":
        if request.GET.get("fragment") == "groups":
            return render(request, "operations/_settings_groups.html", {"groups": build_groups()})
        return show_page(request)
    group = request.POST.get("group", "")
    changes = list_changes(group, request.POST)
    if not changes:
        messages.info(request, "Nothing was changed.")
        return redirect("operations:settings")
    try:
        change_settings(changes, actor=require_actor(request).name)
    except InvalidSetting as refused:
        problems = {key: word_problem(reason, changes[key]) for key, reason in refused.fields.items()}
        groups = build_groups(typed=request.POST, problems=problems, group=group)
        return show_page(request, {"groups": groups, "refused": group}, status=400)
    messages.success(request, describe_saved(list(changes)))
    if group == "Engines" and (lanes := list_unready_lanes()):
        messages.warning(
            request, f"Not ready yet: {join_lanes(lanes)}. Name a model, and see below whether a key is set."
        )
    return redirect("operations:settings")


def show_page(request: HttpRequest, extra: dict[str, Any] | None = None, *, status: int = 200) -> HttpResponse:
    user = get_user(request)
    context: dict[str, Any] = {
        "groups": build_groups() if not extra or "groups" not in extra else None,
        "providers": list_providers(),
        "has_password": user.has_usable_password(),
        "tokens": list_tokens(user),
        "account": user.get_username(),
        "is_held": bool(extra),  # what was typed, or a new token, is shown once: no update may replace it
        **(extra or {}),
    }
    return render(request, "operations/settings.html", context, status=status)


def get_user(request: HttpRequest) -> User:
    user = require_actor(request).user
    if not user.is_active:
        raise PermissionDenied
    return user


def word_problem(reason: str, value: Any) -> str:
    """A refusal as it stands below its field."""
    said = f"It is empty; {reason.rpartition('; ')[2]}" if value == "" else reason
    return f"{said[:1].upper()}{said[1:]}."


def describe_saved(keys: list[str]) -> str:
    """What was saved, and what it takes until it counts."""
    saved = [setting for setting in list_settings() if setting.key in keys]
    parts = [f"Saved: {', '.join(setting.label or setting.key for setting in saved)}."]
    effects = {setting.effect for setting in saved}
    if WORKER_RESTART in effects:
        parts.append("The worker still works with the old value: restart it (stop manage.py up and start it again).")
    if NEXT_RUN in effects:
        parts.append("It counts from the next run on.")
    return " ".join(parts)


# --- the password ------------------------------------------------------------------------------


@sensitive_post_parameters("current", "new", "again")
@require_POST
def change_password(request: HttpRequest) -> HttpResponse:
    """Set or change it. Other sessions of the account end; this one goes on."""
    user = get_user(request)
    new = request.POST.get("new", "")
    errors = check_password(request, user, new)
    if not errors:
        try:
            set_password(user, password=new)
        except ValidationError as refused:
            errors = {"new": " ".join(refused.messages)}
    if errors:
        return show_page(request, {"password_errors": errors}, status=400)
    update_session_auth_hash(request, user)
    messages.success(request, "The password is set. Every other session of this account was signed out.")
    return redirect("operations:settings")


def check_password(request: HttpRequest, user: User, new: str) -> dict[str, str]:
    """What is wrong by field. The current password may be guessed at as slowly as on the sign-in page."""
    if not 0 < len(new) <= PASSWORD_LIMIT:
        return {"new": f"Type a new password of 10 to {PASSWORD_LIMIT:,} characters."}
    if new != request.POST.get("again", ""):
        return {"again": "The two are not the same. Type the new password twice."}
    if not user.has_usable_password():
        return {}
    address, account = request.META.get("REMOTE_ADDR", ""), user.get_username()
    wait = reserve_attempt(address=address, account=account, now=timezone.now())
    if wait:
        return {"current": f"Too many failed attempts. Try again in {describe_wait(wait)}."}
    if not user.check_password(request.POST.get("current", "")[:PASSWORD_LIMIT]):
        return {"current": "This is not the current password. A new one was not set."}
    forgive(address=address, account=account)
    return {}


# --- tokens ------------------------------------------------------------------------------------


@require_POST
def make_token(request: HttpRequest) -> HttpResponse:
    """The answer shows the token, this once: only its hash is kept, so there is nothing to redirect to."""
    label = request.POST.get("label", "").strip()
    if not label or len(label) > LABEL_LIMIT or not label.isprintable():
        reason = f"Say in up to {LABEL_LIMIT} plain characters what it is for."
        return show_page(request, {"token_error": reason, "token_label": label}, status=400)
    row, token = create_token(get_user(request), label=label, now=timezone.now())
    response = show_page(request, {"new_token": token, "new_label": row.label})
    response["Cache-Control"] = "no-store"
    return response


@require_POST
def end_token(request: HttpRequest) -> HttpResponse:
    page = ask_first(
        request,
        title="Revoke this token?",
        consequence="Whatever uses it is refused from now on. What it did stays.",
        label="Revoke",
        back=reverse("operations:settings"),
    )
    if page is not None:
        return page
    number = request.POST.get("id", "")
    is_known = number.isascii() and number.isdigit() and len(number) <= 18
    if is_known and revoke_token(int(number), user=get_user(request), now=timezone.now()):
        messages.success(request, "The token was revoked.")
    else:
        messages.warning(request, "There is no such token, or it was revoked before.")
    return redirect(f"{reverse('operations:settings')}#tokens")
