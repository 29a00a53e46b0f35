"""The guards of every request. All work around synchronous and asynchronous views alike: the streams are async."""

from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import DisallowedHost
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme

from operations.access.actors import Actor, InvalidToken, identify, release_connections
from operations.access.bodies import MAX_BODY_BYTES, TOO_LARGE
from operations.access.refusals import is_locked, refuse, refuse_unavailable, wants_page
from operations.access.tokens import wait_briefly

#: Compared with ``path_info``, which is what URLs are resolved by; ``path`` has a prefix that the client chooses.
OPEN_PATHS: Final = frozenset({"/v1/health", "/sign-in/"})
OPEN_PREFIXES: Final = ("/static/",)
RENEWED_EVERY_SECONDS: Final = 3600
RENEWED_AT: Final = "renewed_at"
TARGET_LIMIT: Final = 2000
PERMISSIONS_POLICY: Final = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), "
    "midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), usb=()"
)

Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class CheckRequest:
    """Outermost. Refuses foreign hosts and large bodies, completes the headers, and lets go of the connection that a
    stream would keep for as long as it is open."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response: Any = get_response
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self._is_async:
            return self._answer(request)
        return add_headers(find_unfit(request) or self.get_response(request))

    async def _answer(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = find_unfit(request) or await self.get_response(request)
        if response.streaming and getattr(response, "is_async", False):
            await sync_to_async(release_connections)()
        return add_headers(response)


def find_unfit(request: HttpRequest) -> HttpResponse | None:
    """A refusal for what is wrong with the request before anybody asks who sent it."""
    try:
        request.get_host()
    except DisallowedHost:
        # A page of another site whose name was pointed at this machine (DNS rebinding) sends its own name here.
        return refuse(
            request,
            status=400,
            error="unknown_host",
            message="This name is not one that jobctrl answers to. Open it at the address that manage.py up prints, "
            "or add the name to ALLOWED_HOSTS.",
        )
    if getattr(request, "scope", {}).get(TOO_LARGE):
        limit = MAX_BODY_BYTES // 1_000_000
        return refuse(
            request,
            status=413,
            error="too_large",
            message=f"At most {limit} MB can be sent at once. Send a smaller file.",
        )
    return None


def add_headers(response: HttpResponseBase) -> HttpResponseBase:
    response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
    response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    response.headers.setdefault("Cache-Control", "private, no-cache")
    return response


class Sessions(SessionMiddleware):
    """Django's, but a session that cannot be stored is a 503 with the remedy. One that is only renewed by a read waits
    for no writer: the next request renews it. And only a page takes a cookie of no session away: a script's fetch may
    have left with it before somebody signed in or out, and its late answer would take the new one."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:  # type: ignore[override]
        only_reads = request.method in ("GET", "HEAD")
        is_changed = hasattr(request, "session") and request.session.modified
        try:
            with wait_briefly() if only_reads and is_changed else nullcontext():
                answer = super().process_response(request, response)  # type: ignore[arg-type]
            cookie = answer.cookies.get(settings.SESSION_COOKIE_NAME)
            if cookie is not None and not cookie.value and not wants_page(request):
                del answer.cookies[settings.SESSION_COOKIE_NAME]
            return answer
        except (OperationalError, InterfaceError, SessionInterrupted) as error:
            found = find_database_error(error)
            if found is None:
                raise  # signed out in another tab meanwhile
            if only_reads and is_locked(found):
                return response
            return refuse_unavailable(request, found) or response


def find_database_error(error: BaseException | None) -> Exception | None:
    """Itself, or what it came from: Django takes any failure to store a session for one that was deleted."""
    while error is not None and not isinstance(error, OperationalError | InterfaceError):
        error = error.__cause__ or error.__context__
    return error


class RequireSignIn(MiddlewareMixin):
    """Innermost. Everything but the open paths needs a session or a token; pages lead to the sign-in page, programs
    get 401. Turns a database or a worker that is gone into 503."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if request.path_info in OPEN_PATHS or request.path_info.startswith(OPEN_PREFIXES):
            return None
        try:
            actor = identify(request, now=timezone.now())
        except InvalidToken:
            return refuse(
                request,
                status=401,
                error="invalid_token",
                message="This API token is unknown or was revoked. Make a new one on the settings page.",
            )
        except (OperationalError, InterfaceError) as error:
            return refuse_unavailable(request, error)
        if actor is None:
            return ask_to_sign_in(request)
        admit(request, actor)
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return refuse_unavailable(request, exception)


def admit(request: HttpRequest, actor: Actor) -> None:
    if actor.is_token:
        # No cookie was used, so no other site can have sent this on somebody's behalf.
        setattr(request, "_dont_enforce_csrf_checks", True)  # noqa: B010 - Django's own switch is private
        return
    now = int(timezone.now().timestamp())
    if now - request.session.get(RENEWED_AT, 0) >= RENEWED_EVERY_SECONDS:
        request.session[RENEWED_AT] = now  # storing it moves the expiry on


def ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    if not wants_page(request):
        return refuse(
            request,
            status=401,
            error="not_signed_in",
            message="Sign in at /sign-in/, or send an API token as Authorization: Bearer.",
        )
    target = request.get_full_path() if request.method in ("GET", "HEAD") else _read_referring_path(request)
    return HttpResponseRedirect(f"{settings.LOGIN_URL}?{urlencode({'next': choose_local_path(target)})}")


def choose_local_path(target: str) -> str:
    """``target`` where it is a path of this site, else the dashboard."""
    is_local = (
        target.startswith("/") and target.isprintable() and url_has_allowed_host_and_scheme(target, allowed_hosts=None)
    )
    return target if is_local and len(target) <= 2000 else "/"


def _read_referring_path(request: HttpRequest) -> str:
    """The page whose form was sent: the target of the form itself cannot be opened."""
    try:
        referer = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return "/"
    if referer.netloc != request.get_host():
        return "/"
    return f"{referer.path}?{referer.query}" if referer.query else referer.path
