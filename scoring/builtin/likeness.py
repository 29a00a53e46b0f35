"""How near a posting's sentence is to the candidate's own sentences.

bm25s picks the few candidates (its index of some thirty sentences takes about 1 ms per profile and 10 microseconds per
query, against 130 ms once for importing it and numpy, hence the import inside); the share of the sentence's words found
in a candidate, inflection and spelling aside, decides, since BM25's own figure has no fixed scale.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz, process

from scoring.builtin.vocabulary import load_words

_WORD = re.compile(r"[^\W_]+(?:[+#]+)?")
_CANDIDATES = 3
_SAME_WORD = 88.0
_LONGEST_QUERY = 40
_SUFFIXES = ("ations", "ation", "ments", "ment", "ings", "ing", "ers", "ies", "ied", "es", "ed", "er", "ly", "s", "e")


@dataclass(frozen=True, slots=True)
class Likeness:
    """``share`` 0..1 of the sentence's own words that the evidence has too; ``words`` is how many those are."""

    evidence_id: str
    share: float
    words: int


def reduce_words(text: str) -> list[str]:
    """Words that carry meaning, without common endings, each once and in order."""
    common = load_words("common")
    words = (_strip_ending(word) for word in _WORD.findall(text.lower()) if word not in common and not word.isdigit())
    return [word for word in dict.fromkeys(words) if len(word) > 1]


def _strip_ending(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


class SentenceIndex:
    def __init__(self, sentences: Sequence[tuple[str, str]]) -> None:
        reduced = [(key, reduce_words(text)) for key, text in sentences]
        self._rows = [(key, words) for key, words in reduced if words]
        self._known = {word: None for _, words in self._rows for word in words}
        self._spellings = sorted(self._known)
        self._ranker: Any = None

    def find_nearest(self, text: str) -> Likeness | None:
        query = reduce_words(text)[:_LONGEST_QUERY]
        if not query or not self._rows:
            return None
        words = [self._find_known(word) for word in query]
        known = [word for word in words if word is not None]
        if not known:
            return None
        best: Likeness | None = None
        for row in self._rank_rows(known):
            key, evidence_words = self._rows[row]
            shared = len(set(known) & set(evidence_words))
            found = Likeness(key, shared / len(query), shared)
            if best is None or found.share > best.share:
                best = found
        return best

    def _find_known(self, word: str) -> str | None:
        """The profile's spelling of a word: its own, or one that differs by an ending or a letter."""
        if word in self._known:
            return word
        if len(word) < 5:
            return None
        near = process.extractOne(word, self._spellings, scorer=fuzz.ratio, score_cutoff=_SAME_WORD)
        return near[0] if near is not None else None

    def _rank_rows(self, words: list[str]) -> list[int]:
        if self._ranker is None:
            import bm25s

            ranker = bm25s.BM25()
            ranker.index([list(row) for _, row in self._rows], show_progress=False)
            self._ranker = ranker  # only when complete: profiles are shared between threads
        scores = [float(score) for score in self._ranker.get_scores(words)]
        return sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:_CANDIDATES]
