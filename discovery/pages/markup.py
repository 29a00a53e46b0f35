"""Refuses markup that would keep an HTML parser busy for minutes. Pure."""

import re
from typing import Final

MAX_OPEN: Final = 50_000_000  # open elements summed over all tags: a parser looks through them at every tag
MAX_REOPENED: Final = 300_000  # the same for formatting elements, which it opens again in every block

_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_FORMATTING: Final = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
)
# Void elements, and those that the next one of their kind closes.
_CLOSED_BY_THEMSELVES: Final = frozenset(
    {
        "area", "base", "body", "br", "col", "dd", "dt", "embed", "head", "hr", "html", "img", "input", "li",
        "link", "meta", "optgroup", "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr",
        "track", "wbr",
    }
)  # fmt: skip


def is_parsable(html: str) -> bool:
    """Whether the estimated work stays far below a second; the work grows with the square of the nesting.

    Measured with lexbor: 50,000 nested elements took 2 s, 400 unclosed ``<font>`` before 20,000 paragraphs 10 s.
    """
    opened: dict[str, int] = {}
    depth = formatting = work = reopened = 0
    for match in _TAG.finditer(html):
        name = match.group(2).lower()
        if name not in _CLOSED_BY_THEMSELVES:
            step = _count_step(opened, name, closes=bool(match.group(1)))
            depth += step
            formatting += step if name in _FORMATTING else 0
        work += depth
        reopened += formatting
        if work > MAX_OPEN or reopened > MAX_REOPENED:
            return False
    return True


def _count_step(opened: dict[str, int], name: str, *, closes: bool) -> int:
    """An end tag counts only against an open element of its own name."""
    if not closes:
        opened[name] = opened.get(name, 0) + 1
        return 1
    if not opened.get(name):
        return 0
    opened[name] -= 1
    return -1
