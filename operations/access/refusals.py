"""Refusals: one status, one code, one sentence with the remedy; JSON for programs, a page for people."""

from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from operations.errors import WorkerUnavailable

API_PREFIX: Final = "/v1/"
STREAM_PREFIX: Final = "/live/"
DOCS_PATH: Final = "/v1/docs/"  # the one page among the API's addresses
RETRY_SECONDS: Final = 5

TITLES: Final = {
    400: "This request was not understood",
    401: "Sign in first",
    403: "This was refused",
    404: "There is nothing here",
    413: "This is too large",
    429: "Too many attempts",
    500: "Something went wrong here",
    503: "Not available just now",
}


def wants_page(request: HttpRequest) -> bool:
    """Whether a person looks at the answer: not the API, a stream, or a script's fetch."""
    if request.path_info.startswith((API_PREFIX, STREAM_PREFIX)) and request.path_info != DOCS_PATH:
        return False
    if "X-Requested-With" in request.headers:  # of our own scripts, where a browser says no mode: plain HTTP by name
        return False
    return request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"


def refuse(request: HttpRequest, *, status: int, error: str, message: str) -> HttpResponse:
    """Never reads the database: it must work when that is what is gone."""
    if not wants_page(request):
        response: HttpResponse = JsonResponse({"error": error, "message": message}, status=status)
    else:
        context = {"title": TITLES.get(status, TITLES[400]), "message": message, "error": error, "status": status}
        response = HttpResponse(render_to_string("operations/refused.html", context), status=status)
    response["Cache-Control"] = "no-store"
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="jobctrl"'
    return response


def refuse_unavailable(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """503 for what passes by itself or by starting something; ``None`` for any other exception."""
    if isinstance(error, WorkerUnavailable):
        response = refuse(request, status=503, error=error.code, message=error.message)
    elif isinstance(error, OperationalError | InterfaceError):
        response = refuse(request, status=503, error="database_unavailable", message=describe_database_error(error))
    else:
        return None
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def describe_database_error(error: Exception) -> str:
    """What to do about it; never the exception's own text, which may hold statements and paths."""
    text = str(error).lower()
    if is_locked(error):
        return "The database is busy: another program is writing to it. Nothing was changed. Try again in a moment."
    if "no such table" in text or "does not exist" in text:
        return "The database is not set up yet. Start everything with: manage.py up"
    return "The database does not answer. Check that it is running (manage.py doctor says what is wrong), then reload."


def is_locked(error: Exception) -> bool:
    text = str(error).lower()
    return "locked" in text or "lock timeout" in text


def refuse_csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    """``CSRF_FAILURE_VIEW``."""
    return refuse(
        request,
        status=403,
        error="csrf_failed",
        message="This form did not come from a page of this site, or the page is older than your sign-in. "
        "Go back, reload the page and send it again.",
    )
