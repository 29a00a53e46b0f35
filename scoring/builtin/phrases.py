"""Whole-word phrase lookup in one pass over the text: no regular expression grows with the vocabulary."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"[A-Za-z0-9\u00c0-\u024f]+[+#]*")
_NOT_LATIN = re.compile(r"[\u0370-\uffff]")
_JOINTS = frozenset({"", " ", "-", "/", ".", "'", "’", "&", "_", "\u00a0", "\u2010", "\u2011", " & ", " / "})
_LONGEST = 6
_ENDINGS = ("em", "u")


@dataclass(frozen=True, slots=True)
class Phrase:
    """One spelling of ``name``. ``exact`` spellings match in their own case only."""

    name: str
    text: str
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    phrase: Phrase
    start: int
    end: int


def tokenize(text: str) -> list[tuple[str, int, int]]:
    """Lower-case words with their spans; ``C++`` and ``C#`` stay whole."""
    return [(match.group().lower(), match.start(), match.end()) for match in _TOKEN.finditer(text)]


class PhraseIndex:
    def __init__(self, phrases: list[Phrase]) -> None:
        self._by_words: dict[tuple[str, ...], list[Phrase]] = {}
        self._lengths: dict[str, list[int]] = {}
        self._symbols: list[Phrase] = []
        for phrase in phrases:
            words = tuple(word for word, _, _ in tokenize(phrase.text))
            if not words or _NOT_LATIN.search(phrase.text):
                self._symbols.append(phrase)
                continue
            self._by_words.setdefault(words, []).append(phrase)
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))
                lengths.sort(reverse=True)

    def find_hits(self, text: str) -> list[Hit]:
        """Hits in reading order that do not overlap, the longest phrase first at each word."""
        tokens = tokenize(text)
        hits: list[Hit] = []
        position = 0
        while position < len(tokens):
            hit, used = self._match_at(text, tokens, position)
            if hit is not None:
                hits.append(hit)
            position += used
        if self._symbols and _NOT_LATIN.search(text):
            hits.extend(self._find_symbols(text))
            hits.sort(key=lambda hit: (hit.start, hit.end))
        return hits

    def _match_at(self, text: str, tokens: list[tuple[str, int, int]], position: int) -> tuple[Hit | None, int]:
        word, start, _ = tokens[position]
        if word not in self._lengths:
            return self._match_inflected(text, tokens[position]), 1
        for length in self._lengths[word]:
            if position + length > len(tokens) or length > _LONGEST:
                continue
            run = tokens[position : position + length]
            if any(text[run[i][2] : run[i + 1][1]] not in _JOINTS for i in range(length - 1)):
                continue
            for phrase in self._by_words.get(tuple(item[0] for item in run), ()):
                hit = _place_phrase(phrase, text, start, run[-1][2])
                if hit is not None:
                    return hit, length
        return None, 1

    def _match_inflected(self, text: str, token: tuple[str, int, int]) -> Hit | None:
        """Czech and Slovak decline names: "v Dockeru", "s Pythonem"."""
        word, start, end = token
        ending = next((ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) >= 4), None)
        if ending is None or not text[start].isupper():
            return None
        for phrase in self._by_words.get((word.removesuffix(ending),), ()):
            if not phrase.exact or text[start : end - len(ending)] == phrase.text:
                return Hit(phrase, start, end)
        return None

    def _find_symbols(self, text: str) -> Iterator[Hit]:
        for phrase in self._symbols:
            start = text.find(phrase.text)
            while start >= 0:
                yield Hit(phrase, start, start + len(phrase.text))
                start = text.find(phrase.text, start + len(phrase.text))


def _place_phrase(phrase: Phrase, text: str, start: int, end: int) -> Hit | None:
    """Check the case and a leading dot (".NET"), which the words alone do not show."""
    if phrase.text.startswith("."):
        start -= 1
        if start < 0 or text[start] != ".":
            return None
    if phrase.exact and text[start:end] != phrase.text:
        return None
    return Hit(phrase, start, end)
