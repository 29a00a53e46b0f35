"""The skills this engine knows: names, aliases, what a skill implies and what is close to it."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from scoring.builtin.phrases import Hit, Phrase, PhraseIndex

LONGEST_TEXT = 60_000  # characters read; what follows is not a posting or a profile any more

_NEARBY = 60  # characters within which another skill vouches for an ambiguous word
_NEIGHBOURS = 6
_SENTENCE = 600  # characters: what is no longer is read by extraction and again by matching; a posting by two documents
_LIST_GAP = re.compile(r"\s*(?:,|/|\||;|&|\band\b|\bor\b)\s*(?:\band\b|\bor\b)?\s*\Z")
_NAME_IN_PROSE = re.compile(r"(?:[a-z]{3,}|:) \Z")  # a capital within a sentence: "writing production Go"
_WORDS_BEFORE = re.compile(r"[\w'’-]+")


@dataclass(frozen=True, slots=True)
class SkillEntry:
    name: str
    group: str
    aliases: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    exact: bool = False
    context: bool = False
    not_before: tuple[str, ...] = ()
    not_after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Vocabulary:
    entries: dict[str, SkillEntry]
    index: PhraseIndex
    related: dict[str, tuple[str, ...]]
    implied: dict[str, frozenset[str]]
    spellings: dict[str, str]  # every spelling in small letters, with the first skill that has it


def _read_entry(row: dict[str, Any]) -> SkillEntry:
    lists = {key: tuple(row.get(key, ())) for key in ("aliases", "related", "implies", "not_before", "not_after")}
    return SkillEntry(
        row["name"], row["group"], exact=row.get("exact", False), context=row.get("context", False), **lists
    )


def _list_phrases(entries: Iterable[SkillEntry]) -> list[Phrase]:
    phrases: list[Phrase] = []
    taken: set[str] = set()
    for entry in entries:
        for alias in (entry.name, *entry.aliases):
            exact = alias.startswith("=") or (entry.exact and alias == entry.name)
            phrases.append(Phrase(entry.name, alias.removeprefix("="), exact))
            taken.add(alias.removeprefix("=").lower())
    plurals = [
        Phrase(phrase.name, phrase.text + "s")
        for phrase in phrases
        if not phrase.exact
        and phrase.text[-1:].isalpha()
        and len(phrase.text) > 4
        and f"{phrase.text}s".lower() not in taken
    ]
    return phrases + plurals


def _map_spellings(entries: Iterable[SkillEntry]) -> dict[str, str]:
    names: dict[str, str] = {}
    for entry in entries:
        for spelling in (entry.name, *entry.aliases):
            names.setdefault(spelling.removeprefix("=").lower(), entry.name)
    return names


def _close_implications(entries: dict[str, SkillEntry]) -> dict[str, frozenset[str]]:
    closed: dict[str, frozenset[str]] = {}
    for name in entries:
        seen: set[str] = set()
        waiting = list(entries[name].implies)
        while waiting:
            implied = waiting.pop()
            if implied not in seen:
                seen.add(implied)
                waiting.extend(entries[implied].implies)
        closed[name] = frozenset(seen - {name})
    return closed


@cache
def load_words(name: str) -> frozenset[str]:
    """A small set of words from ``words.json``."""
    lists: dict[str, str] = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
    return frozenset(lists[name].split())


@cache
def load_vocabulary() -> Vocabulary:
    rows = json.loads(Path(__file__).with_name("skills.json").read_text(encoding="utf-8"))
    entries = {row["name"]: _read_entry(row) for row in rows}
    related: dict[str, list[str]] = {name: [] for name in entries}
    for entry in entries.values():
        for other in entry.related:
            for one, two in ((entry.name, other), (other, entry.name)):
                if two not in related[one]:
                    related[one].append(two)
    return Vocabulary(
        entries=entries,
        index=PhraseIndex(_list_phrases(entries.values())),
        related={name: tuple(others) for name, others in related.items()},
        implied=_close_implications(entries),
        spellings=_map_spellings(entries.values()),
    )


def related_skills(name: str) -> tuple[str, ...]:
    """Skills close enough to be worth naming where ``name`` itself is missing; () for an unknown name."""
    return load_vocabulary().related.get(name, ())


def list_implied_skills(name: str) -> frozenset[str]:
    """What knowing ``name`` shows as well: Django implies Python."""
    return load_vocabulary().implied.get(name, frozenset())


def get_skill_group(name: str) -> str:
    return load_vocabulary().entries[name].group


def is_soft_skill(name: str) -> bool:
    entry = load_vocabulary().entries.get(name)
    return entry is not None and entry.group == "soft"


def find_skills(text: str) -> tuple[str, ...]:
    """Canonical names in the order in which the text first mentions them."""
    return tuple(dict.fromkeys(mention.name for mention in find_mentions(text)))


def find_mentions(text: str) -> tuple[Mention, ...]:
    """Every skill mention with its span; of a text longer than ``LONGEST_TEXT`` the rest is not read."""
    text = text[:LONGEST_TEXT]
    return _recall_posting(text) if len(text) > _SENTENCE else _recall_sentence(text)


@lru_cache(maxsize=2048)
def _recall_sentence(text: str) -> tuple[Mention, ...]:
    return _read_mentions(text)


@lru_cache(maxsize=32)
def _recall_posting(text: str) -> tuple[Mention, ...]:
    return _read_mentions(text)


def _read_mentions(text: str) -> tuple[Mention, ...]:
    vocabulary = load_vocabulary()
    hits = vocabulary.index.find_hits(text)
    entries = vocabulary.entries
    kept: list[Mention] = []
    for position, hit in enumerate(hits):
        entry = entries[hit.phrase.name]
        if not _is_whole(hit, text):
            if _is_guarded(entry, hit) and _is_other_use(entry, hit, text):
                continue
            if _is_ambiguous(entry, hit) and not _has_context(position, hits, text):
                continue
        kept.append(Mention(entry.name, hit.start, hit.end))
    if kept or len(text) > 30:
        return tuple(kept)
    # A profile's skill list may say just "go" or "excel".
    name = vocabulary.spellings.get(text.strip().lower())
    return () if name is None else (Mention(name, 0, len(text)),)


def _is_whole(hit: Hit, text: str) -> bool:
    return text.strip(" \t-•*.,:") == text[hit.start : hit.end]


def _is_guarded(entry: SkillEntry, hit: Hit) -> bool:
    return bool(entry.not_before or entry.not_after) and hit.phrase.text.count(" ") == 0


def _is_ambiguous(entry: SkillEntry, hit: Hit) -> bool:
    return entry.context and hit.phrase.text == entry.name


def _is_other_use(entry: SkillEntry, hit: Hit, text: str) -> bool:
    """The words around say that this is not the skill: "Go to market", "R&D", "Series C"."""
    after = text[hit.end : hit.end + 30].lower().lstrip(" -/\u00a0&'’,")
    before = _WORDS_BEFORE.findall(text[max(0, hit.start - 30) : hit.start].lower())
    if any(
        after == word or after.startswith((f"{word} ", f"{word}.", f"{word},", f"{word}-")) for word in entry.not_before
    ):
        # A comma ends the phrase: in "Go, on Linux" the list goes on.
        return text[hit.end : hit.end + 1] != ","
    return bool(before) and (before[-1] in entry.not_after or "-".join(before[-2:]) in entry.not_after)


def _has_context(position: int, hits: list[Hit], text: str) -> bool:
    hit = hits[position]
    for other in hits[max(0, position - _NEIGHBOURS) : position + _NEIGHBOURS + 1]:
        entry = load_vocabulary().entries[other.phrase.name]
        is_near = other.start - hit.end <= _NEARBY and hit.start - other.end <= _NEARBY
        if is_near and entry.group != "soft" and not _is_ambiguous(entry, other):
            return True
    for other in hits[max(0, position - 1) : position + 2]:
        gap = text[min(hit.end, other.end) : max(hit.start, other.start)]
        if other is not hit and len(gap) < 12 and _LIST_GAP.match(gap):
            return True
    if text[hit.start - 1 : hit.start] == "(" and text[hit.end : hit.end + 1] == ")":
        return True
    if load_vocabulary().entries[hit.phrase.name].group == "language" and _NAME_IN_PROSE.search(
        text[max(0, hit.start - 12) : hit.start]
    ):
        return True
    before = _WORDS_BEFORE.findall(text[max(0, hit.start - 24) : hit.start].lower())
    after = _WORDS_BEFORE.findall(text[hit.end : hit.end + 24].lower())
    return bool(before and before[-1] in load_words("cue_before")) or bool(
        after and after[0] in load_words("cue_after")
    )
