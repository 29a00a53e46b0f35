"""Cut a posting into sentences and list items, each under the heading it stands under."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

LONGEST_ITEM = 400
_LONGEST_HEADING = 70
_BULLET = re.compile(r"(?:[-*•·▪◦‣●○■□✓✔✅➤►»–—・※◆◇]|o(?=\s)|\(?\d{1,2}[.)](?=\s))\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?;])[\"”’)]?\s+(?=[A-Z0-9À-ÖØ-ÞČĎĚŇŘŠŤŽ\"“(])|(?<=[。！？])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|incl|approx|min|max|z\.B|bzw|ca|Sr|Jr|Dr|Mr|Ms|U\.S|U\.K|vs|resp|např)\.)\Z"
)
_WORDS = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_INLINE_HEADING = re.compile(r"([^:：\n]{2,50})[:：]\s*(?=\S)")
_BRACKETED = re.compile(r"[【\[■◆]+\s*([^】\]\n]{2,40})[】\]]?\Z")


class Section(StrEnum):
    MUST = "must"
    NICE = "nice"
    DUTY = "duty"
    IGNORED = "ignored"
    OPEN = "open"  # before any heading, or under one that says nothing about its kind


@dataclass(frozen=True, slots=True)
class Item:
    """``text[start:end]`` of the text it was cut from, without bullet or surrounding space."""

    start: int
    end: int
    section: Section
    bulleted: bool


@cache
def _load_table() -> dict[str, frozenset[str]]:
    table = json.loads(Path(__file__).with_name("headings.json").read_text(encoding="utf-8"))
    return {
        kind: frozenset(_normalize_heading(phrase) for phrases in languages.values() for phrase in phrases)
        for kind, languages in table.items()
    }


@cache
def _load_headings() -> dict[str, Section]:
    return {
        phrase: Section(kind)
        for kind, phrases in _load_table().items()
        if kind != "loose"
        for phrase in sorted(phrases)
    }


def _normalize_heading(line: str) -> str:
    return " ".join(_WORDS.findall(line.replace("’", "'").lower()))


def classify_heading(line: str, *, is_marked: bool) -> Section | None:
    """The section a line opens, or ``None`` for a line that is no heading. ``is_marked``: a colon or brackets say so.

    Loose phrases ("skills", "role") open one only as the whole line, or where the line is plainly a heading.
    """
    if len(line) > _LONGEST_HEADING:
        return None
    words = _normalize_heading(line)
    count = len(words.split())
    if not words or count > 12 or (count > 7 and not is_marked):
        return None
    headings, loose = _load_headings(), _load_table()["loose"]
    if words in headings:
        return headings[words]
    best: tuple[bool, int, Section] | None = None
    for phrase, section in headings.items():
        if phrase in loose and not (is_marked or line.isupper() or (count <= 3 and line[:1].isupper())):
            continue
        at = f" {words} ".find(f" {phrase} ")
        if at < 0 and not (phrase[0] > "\u3000" and phrase in words):
            continue
        rank = (section is Section.NICE and "required" not in words, len(phrase), section)
        if best is None or rank[:2] > best[:2]:
            best = rank
    if best is not None:
        return best[2]
    if words.startswith("about ") and count <= 5:
        return Section.IGNORED
    return Section.OPEN if is_marked or (line.isupper() and count > 1) else None


def iter_items(text: str, *, body: int = 0) -> Iterator[Item]:
    """The items of ``text[body:]``, with spans in ``text``."""
    section = Section.OPEN
    listed = False
    position = body
    for line in text[body:].splitlines(keepends=True):
        start, end = _strip_span(text, position, position + len(line))
        position += len(line)
        if start == end:
            continue
        bullet = _BULLET.match(text, start, end)
        bulleted = bullet is not None and bullet.end() < end
        if bullet is not None:
            start = min(bullet.end(), end)
        heading = _find_heading(text[start:end], bulleted=bulleted)
        if heading is not None:
            section, listed = heading, False
            continue
        if listed and not bulleted and section is not Section.IGNORED and text[end - 1] == "." and end - start > 60:
            section, listed = Section.OPEN, False  # prose after a list closes what the heading opened
        listed = listed or bulleted
        current = section
        inline = _INLINE_HEADING.match(text, start, end)
        if inline is not None and not bulleted:
            named = classify_heading(inline.group(1), is_marked=True)
            if named is not None and named is not Section.OPEN and len(inline.group(1).split()) <= 5:
                current, start = named, inline.end()
        yield from _split_sentences(text, start, end, current, bulleted=bulleted)


def _find_heading(line: str, *, bulleted: bool) -> Section | None:
    bracketed = _BRACKETED.match(line)
    if bracketed is not None:
        return classify_heading(bracketed.group(1), is_marked=True)
    is_marked = line.endswith((":", "："))
    if bulleted and not is_marked:
        return None
    if not is_marked and line.endswith((".", ",", ";", "。")):
        return None
    found = classify_heading(line.rstrip(":："), is_marked=is_marked)
    return None if bulleted and found in (Section.OPEN, Section.IGNORED) else found


def _split_sentences(text: str, start: int, end: int, section: Section, *, bulleted: bool) -> Iterator[Item]:
    begin = start
    for stop in _SENTENCE_END.finditer(text, start, end):
        if _ABBREVIATION.search(text, max(begin, stop.start() - 8), stop.start()):
            continue
        yield from _cut_item(text, begin, stop.start(), section, bulleted=bulleted)
        begin = stop.end()
    yield from _cut_item(text, begin, end, section, bulleted=bulleted)


def _cut_item(text: str, start: int, end: int, section: Section, *, bulleted: bool) -> Iterator[Item]:
    """One item, or several where a sentence is longer than anybody would cite."""
    while end - start > LONGEST_ITEM:
        cut = max(
            text.rfind(", ", start + 100, start + LONGEST_ITEM), text.rfind("; ", start + 100, start + LONGEST_ITEM)
        )
        if cut < 0:
            cut = text.rfind(" ", start + 100, start + LONGEST_ITEM)
        cut = start + LONGEST_ITEM if cut < 0 else cut + 1
        begin, stop = _strip_span(text, start, cut)
        if begin < stop:
            yield Item(begin, stop, section, bulleted)
        start = cut
    start, end = _strip_span(text, start, end)
    if start < end:
        yield Item(start, end, section, bulleted)


def _strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
