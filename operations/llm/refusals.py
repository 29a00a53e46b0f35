"""What an answer says of an error, also in the middle of a stream that began well, and whether it is the account's.

Only the provider's own fields are read: a server may quote the request, and with it any text of a posting.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from operations.llm.reading import iterate_parts

#: What providers write into the type, code, status or reason of an error where they refuse the account.
CODES: Final = {
    "insufficient_quota": "out_of_credit",
    "billing_hard_limit_reached": "out_of_credit",
    "credit_balance_exhausted": "out_of_credit",
    "organization_spend_limit_exceeded": "out_of_credit",
    "project_spend_limit_exceeded": "out_of_credit",
    "organization_usage_limit_exceeded": "out_of_credit",
    "exceeded_current_quota_error": "out_of_credit",
    "billing_error": "out_of_credit",
    "402": "out_of_credit",
    "api_key_invalid": "authentication",
    "invalid_api_key": "authentication",
    "authentication_error": "authentication",
    "unauthenticated": "authentication",
    "401": "authentication",
}
#: How the messages begin of those who have no code for it.
BEGINNINGS: Final = {
    "your credit balance is too low": "out_of_credit",
    "your prepayment credits are depleted": "out_of_credit",
    "gemini api free tier is not available": "out_of_credit",
    "api key not valid": "authentication",
    "api key expired": "authentication",
}


@dataclass(frozen=True, slots=True)
class Told:
    """Whether an answer tells an error, and why the account is refused by it ("" = it is not)."""

    is_error: bool = False
    refusal: str = ""


def read_told(status: int, body: bytes, *, streamed: bool) -> Told:
    """Of an answer below 500; what a server that is broken says of the account is not to be relied on."""
    if status >= 500:
        return Told(is_error=True)
    errors = list(_find_errors(body, streamed=streamed))
    reasons = [reason for error in errors if (reason := _read_reason(error))]
    return Told(bool(errors) or status >= 400, reasons[0] if reasons else "")


def _find_errors(body: bytes, *, streamed: bool) -> Iterator[dict[str, Any]]:
    for part in iterate_parts(body) if streamed else _read_whole(body):
        if isinstance(error := part.get("error"), dict) and error:
            yield error


def _read_whole(body: bytes) -> list[dict[str, Any]]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return []
    return [answer] if isinstance(answer, dict) else _dicts(answer)


def _read_reason(error: dict[str, Any]) -> str:
    for sign in _list_signs(error):
        if reason := CODES.get(str(sign).casefold()):
            return reason
    if _is_used_up_for_today(error):
        return "out_of_credit"
    message = str(error.get("message", ""))[:80].casefold()
    return next((reason for beginning, reason in BEGINNINGS.items() if message.startswith(beginning)), "")


def _list_signs(error: dict[str, Any]) -> list[object]:
    return [error.get("type"), error.get("code"), error.get("status"), *(one.get("reason") for one in _details(error))]


def _is_used_up_for_today(error: dict[str, Any]) -> bool:
    """Google's quota of a day, which tells itself from that of a minute by its name alone."""
    violations = [one for detail in _details(error) for one in _dicts(detail.get("violations"))]
    return any("PerDay" in str(one.get("quotaId")) for one in violations)


def _details(error: dict[str, Any]) -> list[dict[str, Any]]:
    return _dicts(error.get("details"))


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
