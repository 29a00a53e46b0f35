"""Finds the first JobPosting among a page's JSON-LD scripts."""

import html as markup
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

MAX_NODES: Final = 5_000  # of one script that are looked at
_NESTED: Final = ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item")
_WRAPPING: Final = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$|;\s*$")


def find_job_posting(html: str) -> Mapping[str, Any] | None:
    """A script that cannot be read is passed over, the next one may hold the posting."""
    if "JobPosting" not in html:
        return None
    for text in list_scripts(html):
        for node in iter_nodes(parse_lenient(text)):
            if is_job_posting(node):
                return node
    return None


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


def iter_nodes(data: object) -> Iterator[Mapping[str, Any]]:
    """Objects in reading order, inside lists and the usual containers; bounded, since the page decides the depth."""
    waiting: deque[object] = deque([data])
    for _ in range(MAX_NODES):
        if not waiting:
            return
        value = waiting.popleft()
        if isinstance(value, list):
            waiting.extendleft(reversed(value))
        elif isinstance(value, dict):
            yield value
            waiting.extendleft(reversed([value[key] for key in _NESTED if key in value]))


def is_job_posting(node: Mapping[str, Any]) -> bool:
    types = node.get("@type")
    names = types if isinstance(types, list) else [types]
    return any(isinstance(name, str) and re.split(r"[/:#]", name.strip())[-1] == "JobPosting" for name in names)
