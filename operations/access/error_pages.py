"""Django's error handlers: pages for people, the API's error shape for programs."""

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from operations.access.refusals import refuse, wants_page


def answer_bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if wants_page(request):
        return defaults.bad_request(request, exception)
    return refuse(request, status=400, error="bad_request", message="The request was not understood.")


def answer_forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if wants_page(request):
        return defaults.permission_denied(request, exception)
    return refuse(request, status=403, error="forbidden", message="This is not yours to see or do.")


def answer_missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    if wants_page(request):
        return defaults.page_not_found(request, exception)
    return refuse(request, status=404, error="not_found", message="There is nothing at this address.")


def answer_broken(request: HttpRequest) -> HttpResponse:
    if wants_page(request):
        return defaults.server_error(request)
    return refuse(
        request,
        status=500,
        error="internal",
        message="Something went wrong here; it was logged (logs/web.log in the workspace).",
    )
