"""One error shape for the whole API: ``{error, message, fields}``."""

from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from operations.access.refusals import RETRY_SECONDS, describe_database_error
from operations.contracts import ErrorCode
from operations.errors import OperationsError
from operations.listing.paging import BadQuery

#: Codes of our own errors that are not a plain 400.
STATUS_OF = {
    "not_found": status.HTTP_404_NOT_FOUND,
    "not_cancelable": status.HTTP_409_CONFLICT,
    "not_eligible": status.HTTP_409_CONFLICT,
    "active_work": status.HTTP_409_CONFLICT,
    "conflict": status.HTTP_409_CONFLICT,
    "worker_runtime_unavailable": status.HTTP_503_SERVICE_UNAVAILABLE,
    ErrorCode.CONFIGURATION: status.HTTP_409_CONFLICT,
    ErrorCode.MISSING_INPUT: status.HTTP_409_CONFLICT,
}
FIELDS_SHOWN = 50
CSRF_MESSAGE = (
    "A request with a session must send the page's CSRF token as X-CSRFToken. "
    "Reload the page and send it again, or use an API token."
)
CODE_OF_STATUS = {
    400: "bad_request",
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
}


class ErrorOutput(serializers.Serializer[Any]):
    """Every refusal: a stable code, one sentence with the remedy, and the reason by field."""

    error = serializers.CharField()
    message = serializers.CharField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """``fields`` is a name of the serializer's own, so the field of that name is added here."""
        return {**super().get_fields(), "fields": serializers.DictField(child=serializers.CharField(), required=False)}


class Conflict(exceptions.APIException):
    """A guard refused: what was asked does not fit the present state."""

    status_code = status.HTTP_409_CONFLICT


def answer_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. What it does not know stays a 500 and is logged without its text."""
    set_rollback()
    if isinstance(error, BadQuery):
        return build_error(400, "bad_request", "The request was not understood.", error.errors)
    if isinstance(error, OperationsError):
        fields = getattr(error, "fields", {})
        return build_error(STATUS_OF.get(error.code, 400), str(error.code), error.message, fields)
    if isinstance(error, OperationalError | InterfaceError):
        return build_error(503, "database_unavailable", describe_database_error(error))
    if isinstance(error, RequestDataTooBig):
        return build_error(413, "too_large", "At most 4 MB can be sent at once. Send a smaller body.")
    if isinstance(error, Http404):
        error = exceptions.NotFound("There is nothing at this address.")
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    if not isinstance(error, exceptions.APIException):
        return None
    return _answer_drf(error)


def _answer_drf(error: exceptions.APIException) -> Response:
    code = CODE_OF_STATUS.get(error.status_code, "refused")
    if isinstance(error, exceptions.ValidationError):
        return build_error(400, "bad_request", "Some fields were refused.", flatten(error.detail))
    if isinstance(error, Conflict):
        code = str(error.get_codes())
    if isinstance(error, exceptions.PermissionDenied) and str(error.detail).startswith("CSRF Failed"):
        return build_error(403, "csrf_failed", CSRF_MESSAGE)
    response = build_error(error.status_code, code, str(error.detail))
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        response["WWW-Authenticate"] = getattr(error, "auth_header", "Bearer")
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = str(int(wait))
    return response


def flatten(detail: Any, *, prefix: str = "") -> dict[str, str]:
    """Nested validation messages as one map from field path to reason."""
    if isinstance(detail, dict):
        found: dict[str, str] = {}
        for name, value in detail.items():
            name = "" if name == api_settings.NON_FIELD_ERRORS_KEY else str(name)
            found |= flatten(value, prefix=".".join(part for part in (prefix, name) if part))
        return found
    if isinstance(detail, list):
        if detail and all(isinstance(item, str) for item in detail):
            return {prefix or "body": " ".join(str(item) for item in detail)}
        found = {}
        for index, value in enumerate(detail):
            found |= flatten(value, prefix=f"{prefix}[{index}]")
        return found
    return {prefix or "body": str(detail)}


def build_error(code: int, error: str, message: str, fields: dict[str, str] | None = None) -> Response:
    body: dict[str, Any] = {"error": error, "message": message}
    if fields:
        shown = list(fields.items())[:FIELDS_SHOWN]
        body["fields"] = {str(name)[:200]: str(reason)[:400] for name, reason in shown}
    response = Response(body, status=code)
    if code == 503:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
