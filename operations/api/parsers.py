"""Reading a JSON body: what a parser would guess about is refused, with the place."""

import json
from collections.abc import Mapping
from typing import IO, Any, Final, NoReturn

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from operations.access.bodies import MAX_BODY_BYTES

DEEPEST: Final = 32


class StrictJson(BaseParser):
    """JSON in UTF-8 with each name once, finite numbers, and text that can be stored."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        data = stream.read(MAX_BODY_BYTES + 1)
        if len(data) > MAX_BODY_BYTES:
            raise RequestDataTooBig
        return read_json(data)


def read_json(data: bytes) -> Any:
    """Raises ``ValidationError`` with the reason under ``body``."""
    try:
        text = data.decode("utf-8-sig")
        found = json.loads(text, object_pairs_hook=_read_pairs, parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        _refuse("it is not UTF-8")
    except json.JSONDecodeError as error:
        _refuse(f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}")
    except ValueError:
        _refuse("it holds a number with too many digits")
    except RecursionError:
        _refuse(f"it is nested deeper than {DEEPEST} levels")
    _check(found)
    return found


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        _refuse(f"the name {twice[:80]!a} is given twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    _refuse(f"{name} is not JSON; a number must be finite")


def _check(found: Any) -> None:
    waiting = [(found, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            _refuse(f"it is nested deeper than {DEEPEST} levels")
        if isinstance(value, str):
            if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
                _refuse("a text in it holds a NUL character or half of a surrogate pair, which cannot be stored")
        elif isinstance(value, dict):
            waiting.extend((part, depth + 1) for pair in value.items() for part in pair)
        elif isinstance(value, list):
            waiting.extend((part, depth + 1) for part in value)
        elif isinstance(value, float) and value in (float("inf"), float("-inf")):
            _refuse("it holds a number that is too large")


def _refuse(reason: str) -> NoReturn:
    raise ValidationError({"body": reason})


class IgnoreAccept(DefaultContentNegotiation):
    """Each operation has one representation (``?format=`` chooses another), so none is refused with 406."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type
