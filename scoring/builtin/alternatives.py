"""Which skills of one sentence are alternatives ("Kafka or RabbitMQ") and which are all wanted."""

import re
from enum import StrEnum
from itertools import pairwise

from scoring.builtin.vocabulary import find_mentions, is_soft_skill

_OR = re.compile(r"\b(?:or|oder|ou|nebo|and/or)\b|または|\so\s", re.IGNORECASE)
_AND = re.compile(r"\b(?:and|und|et|y|as well as|plus|with|mit|avec)\b|&|;", re.IGNORECASE)
_COMMA = re.compile(r"[\s,、・|()]*\Z")
_EXAMPLES = re.compile(
    r"(?:such as|e\.?g\.?,?|like|for example|including but not limited to|one of|"
    r"one or more|at least one|any of|z\. ?b\.|wie|par exemple|por ejemplo|např\.|"
    r"similar to)"
    r"\s*:?\s*[(\[]?\s*\Z",
    re.IGNORECASE,
)
_OR_SIMILAR = re.compile(
    r"^[\s,)]*(?:or|oder|ou|nebo|and)?\s*(?:similar|equivalent|comparable|another|other|"
    r"others|any other|etc|ähnlich)",
    re.IGNORECASE,
)


class _Link(StrEnum):
    OR = "or"
    SLASH = "slash"  # a choice between two neighbours; it says nothing about the list around it
    AND = "and"
    COMMA = "comma"
    BREAK = "break"


def group_alternatives(text: str) -> tuple[tuple[str, ...], ...]:
    """Hard skills in reading order; any one member of a group answers that group."""
    mentions = [mention for mention in find_mentions(text) if not is_soft_skill(mention.name)]
    if not mentions:
        return ()
    links = [_read_link(text[one.end : two.start]) for one, two in pairwise(mentions)]
    _resolve_commas(text, links, mentions[0].start, mentions[-1].end)
    groups: list[list[str]] = [[mentions[0].name]]
    for link, mention in zip(links, mentions[1:], strict=True):
        if link in (_Link.OR, _Link.SLASH):
            groups[-1].append(mention.name)
        else:
            groups.append([mention.name])
    seen: dict[tuple[str, ...], None] = {}
    for group in groups:
        seen.setdefault(tuple(dict.fromkeys(group)))
    return tuple(seen)


def _read_link(gap: str) -> _Link:
    if _COMMA.match(gap):
        return _Link.COMMA
    if len(gap) > 40:
        return _Link.BREAK
    if _OR.search(gap):
        return _Link.OR
    if "/" in gap:
        return _Link.SLASH
    return _Link.AND if _AND.search(gap) else _Link.BREAK


def _resolve_commas(text: str, links: list[_Link], first_start: int, last_end: int) -> None:
    """A comma means what ends its list: "A, B or C" offers a choice, "A, B and C" wants all three."""
    offers = bool(_EXAMPLES.search(text, max(0, first_start - 40), first_start)) or bool(
        _OR_SIMILAR.match(text[last_end : last_end + 30])
    )
    position = 0
    while position < len(links):
        if links[position] is not _Link.COMMA:
            position += 1
            continue
        stop = position
        while stop < len(links) and links[stop] is _Link.COMMA:
            stop += 1
        ends_in_or = stop < len(links) and links[stop] is _Link.OR
        for index in range(position, stop):
            links[index] = _Link.OR if ends_in_or or offers else _Link.AND
        if offers and stop < len(links) and links[stop] is _Link.AND:
            links[stop] = _Link.OR  # "such as A, B and C"
        position = stop
