"""A board's public address, as pasted from a browser, to its kind and token."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

#: Host to kind, and which path segment the token is; what stands before it must match.
_HOSTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "boards.greenhouse.io": ("greenhouse", ()),
    "job-boards.greenhouse.io": ("greenhouse", ()),
    "boards.eu.greenhouse.io": ("greenhouse", ()),
    "job-boards.eu.greenhouse.io": ("greenhouse", ()),
    "boards-api.greenhouse.io": ("greenhouse", ("v1", "boards")),
    "jobs.lever.co": ("lever", ()),
    "jobs.eu.lever.co": ("lever", ()),
    "api.lever.co": ("lever", ("v0", "postings")),
    "api.eu.lever.co": ("lever", ("v0", "postings")),
    "jobs.ashbyhq.com": ("ashby", ()),
    "api.ashbyhq.com": ("ashby", ("posting-api", "job-board")),
}
#: Boards whose data lives on another host than the kind's own.
_BASE_URLS: Final[Mapping[str, str]] = {
    "jobs.eu.lever.co": "https://api.eu.lever.co",
    "api.eu.lever.co": "https://api.eu.lever.co",
}
_ADDRESS: Final = re.compile(r"(?:https?://)?[A-Za-z0-9.-]+\.[A-Za-z]{2,}/\S*", re.ASCII)


@dataclass(frozen=True, slots=True)
class BoardAddress:
    kind: str
    board: str
    base_url: str = ""


def is_address(text: str) -> bool:
    """Whether this looks like an address rather than like a token."""
    return "://" in text or _ADDRESS.fullmatch(text) is not None


def read_board_address(text: str) -> BoardAddress | None:
    """The board that an address shows; ``None`` where it is not of a board that can be read."""
    address = text.strip()
    if "://" not in address:
        address = f"https://{address}"
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    if host not in _HOSTS or parts.scheme not in ("http", "https"):
        return None
    kind, before = _HOSTS[host]
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    if kind == "greenhouse" and segments[:1] == ["embed"]:
        segments = parse_qs(parts.query).get("for", [])
    elif tuple(segments[: len(before)]) != before:
        return None
    else:
        segments = segments[len(before) :]
    return BoardAddress(kind, segments[0], _BASE_URLS.get(host, "")) if segments else None
