"""What the boards have in common: their registry, their tokens and their errors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from discovery.contracts import ParsedBoard

_TOKEN: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")


class BoardError(Exception):
    """A board could not be read."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class MalformedBoard(BoardError):
    """The answer as a whole does not have the shape of this kind of board."""


class UnknownSource(BoardError, LookupError):
    """No source of this kind is registered."""


class BuildListUrl(Protocol):
    def __call__(self, board: str, *, base_url: str = ...) -> str: ...


class ParseBoard(Protocol):
    def __call__(self, payload: object, *, board: str) -> ParsedBoard: ...


@dataclass(frozen=True, slots=True)
class BoardSource:
    """One kind of board. ``family`` is the group that is crawled by one activity."""

    kind: str
    label: str
    family: str
    list_url: BuildListUrl
    parse_board: ParseBoard


_SOURCES: Final[dict[str, BoardSource]] = {}
SOURCES: Final[Mapping[str, BoardSource]] = MappingProxyType(_SOURCES)


def register_source(source: BoardSource) -> BoardSource:
    """Each twin registers itself as it is imported; the package imports them all."""
    if source.kind in _SOURCES:
        raise ValueError(f"source kind {source.kind!r} is registered twice")
    _SOURCES[source.kind] = source
    return source


def get_source(kind: str) -> BoardSource:
    """Raises ``UnknownSource``."""
    try:
        return _SOURCES[kind]
    except KeyError:
        raise UnknownSource(f"no source of kind {kind!r}; known are {', '.join(sorted(_SOURCES))}") from None


def check_board_token(token: str) -> str:
    """The token, if it can stand as one path segment of a board's address. Raises ``ValueError`` with the reason."""
    if not token:
        raise ValueError("the board token is empty")
    if len(token) > 100:
        raise ValueError("the board token is longer than 100 characters")
    if token in (".", ".."):
        raise ValueError("the board token may not be a dot segment")
    if not _TOKEN.fullmatch(token):
        raise ValueError("the board token may hold only letters, digits, dots, hyphens and underscores")
    return token


def name_company(token: str) -> str:
    """A readable name for a board whose payload names no company: ``wealth-com`` -> ``Wealth Com``."""
    words = re.split(r"[-_.]+", token.strip("-_."))
    return " ".join(word if any(letter.isupper() for letter in word) else word.capitalize() for word in words) or token


def join_url(base_url: str, path: str) -> str:
    return f"{base_url.rstrip('/')}{path}"
