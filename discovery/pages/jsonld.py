"""Finds a page's own JobPosting among its JSON-LD scripts."""

import html as markup
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from discovery.identity import normalise_url
from discovery.pages.fields import read_url

MAX_NODES: Final = 5_000  # of one script that are looked at
_NESTED: Final = ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item")
_WRAPPING: Final = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$|;\s*$")


def find_job_posting(html: str, *, url: str) -> Mapping[str, Any] | None:
    """The posting that names this page as its own, else the first that is not one of a list: those are other jobs.

    A script that cannot be read is passed over, the next one may hold the posting.
    """
    if "JobPosting" not in html:
        return None
    first: Mapping[str, Any] | None = None
    for text in list_scripts(html):
        for node, is_listed in iter_nodes(parse_lenient(text)):
            if not is_job_posting(node):
                continue
            if _names_page(node, url, is_listed=is_listed):
                return node
            if first is None and not is_listed:
                first = node
    return first


def _names_page(node: Mapping[str, Any], url: str, *, is_listed: bool) -> bool:
    for value in (node.get("url"), node.get("@id")):
        named = read_url(value, base=url)
        if is_listed and "#" in named:  # one of several things on this page
            continue
        if named and _spell(named) == _spell(url):
            return True
    return False


def _spell(url: str) -> str:
    try:
        return normalise_url(url).rstrip("/")
    except ValueError:
        return url


def list_scripts(html: str) -> list[str]:
    from selectolax.lexbor import LexborHTMLParser

    scripts = LexborHTMLParser(html).css("script[type]")
    return [node.text() for node in scripts if "ld+json" in (node.attributes.get("type") or "").lower()]


def parse_lenient(text: str) -> object:
    """JSON as pages write it: raw control characters, comment wrappers, escaped as HTML. None = unreadable."""
    text = _WRAPPING.sub("", text).strip()
    if text.startswith(("{&quot;", "[{&quot;")):
        text = markup.unescape(text)
    try:
        value, _ = json.JSONDecoder(strict=False, parse_constant=lambda name: None).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value


def iter_nodes(data: object) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Objects in reading order, inside lists and the usual containers, and whether each is one of several of an
    ItemList; bounded, since the page decides the depth."""
    waiting: deque[tuple[object, bool]] = deque([(data, False)])
    for _ in range(MAX_NODES):
        if not waiting:
            return
        value, is_listed = waiting.popleft()
        if isinstance(value, list):
            waiting.extendleft((item, is_listed) for item in reversed(value))
        elif isinstance(value, dict):
            yield value, is_listed
            inside = [(value[key], is_listed or _is_several(key, value[key])) for key in _NESTED if key in value]
            waiting.extendleft(reversed(inside))


def _is_several(key: str, value: object) -> bool:
    return key == "itemListElement" and isinstance(value, list) and len(value) > 1


def is_job_posting(node: Mapping[str, Any]) -> bool:
    types = node.get("@type")
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and re.split(r"[/:#]", name.strip())[-1] == "JobPosting" for name in names)
