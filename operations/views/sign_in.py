"""Signing in, by a one-time link or a password, and out. The only page that is open to all."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from operations.access.accounts import OPERATOR, can_use_password, ensure_operator
from operations.access.links import consume_link
from operations.access.middleware import choose_local_path
from operations.access.throttle import forgive, reserve_attempt
from operations.streaming.channel_manager import close_streams

BACKEND = "django.contrib.auth.backends.ModelBackend"
LINK_GONE = "This link was used before or is older than ten minutes. Make a new one with: manage.py sign_in_link"
WRONG_PASSWORD = "The name or the password is wrong."


class PasswordForm(forms.Form):
    username = forms.CharField(max_length=150, initial=OPERATOR)
    password = forms.CharField(max_length=1000, strip=False)


@sensitive_post_parameters("password", "token")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """A link's GET only shows a button, since browsers and messengers fetch addresses ahead; its POST uses it up."""
    form = request.POST if request.method == "POST" else request.GET
    target = choose_local_path(form.get("next", "/"))
    if request.method == "POST":
        return _use_link(request, target) if "token" in form else _use_password(request, target)
    if request.user.is_authenticated:
        return HttpResponseRedirect(target)
    return _show(request, target, token=form.get("token", ""))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    user_id = request.user.pk
    logout(request)
    close_streams(user_id)  # another session of theirs connects again by itself
    messages.success(request, "You are signed out.")
    return redirect("operations:sign-in")


def _use_link(request: HttpRequest, target: str) -> HttpResponse:
    if not consume_link(request.POST["token"], now=timezone.now()):
        return _show(request, target, problem=LINK_GONE, status=403)
    return _enter(request, ensure_operator(), target)


def _use_password(request: HttpRequest, target: str) -> HttpResponse:
    form = PasswordForm(request.POST)
    if not form.is_valid():
        return _show(request, target, problem="Type your name and your password.", status=400)
    username, password = form.cleaned_data["username"], form.cleaned_data["password"]
    address = request.META.get("REMOTE_ADDR", "")
    wait = reserve_attempt(address=address, account=username, now=timezone.now())
    if wait:
        problem = f"Too many failed attempts. Try again in {describe_wait(wait)}, or use a link: manage.py sign_in_link"
        response = _show(request, target, problem=problem, status=429, username=username)
        response["Retry-After"] = str(wait)
        return response
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        return _show(request, target, problem=WRONG_PASSWORD, status=403, username=username)
    forgive(address=address, account=username)
    return _enter(request, user, target)


def _enter(request: HttpRequest, user: User, target: str) -> HttpResponse:
    login(request, user, backend=BACKEND)
    return HttpResponseRedirect(target)


def _show(
    request: HttpRequest,
    target: str,
    *,
    token: str = "",
    problem: str = "",
    status: int = 200,
    username: str = OPERATOR,
) -> HttpResponse:
    context: dict[str, Any] = {
        "next": target,
        "token": token,
        "problem": problem,
        "username": username,
        "has_password": not token and can_use_password(),
    }
    response = render(request, "operations/sign_in.html", context, status=status)
    response["Cache-Control"] = "no-store"
    # Keeps the token out of every Referer. Not "no-referrer": under that browsers send "Origin: null" with the form,
    # which the CSRF check must refuse.
    response["Referrer-Policy"] = "strict-origin"
    return response


def describe_wait(seconds: int) -> str:
    if seconds < 60:
        return "1 second" if seconds == 1 else f"{seconds} seconds"
    minutes = -(-seconds // 60)
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
