"""Find what a model quotes in the text it quotes from: exactly, or but for spaces, dashes and quotation marks."""

from dataclasses import dataclass
from typing import Final

_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SINGLE: Final = "\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`"
_DOUBLE: Final = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_UNSEEN: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_FOLDED: Final = {
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_SINGLE, "'"),
    **dict.fromkeys(_DOUBLE, '"'),
    **dict.fromkeys(_UNSEEN, ""),
    "\u2026": "...",
}
_AROUND: Final = " -*\u2022\u00b7\"'"
_ENDS: Final = " .,;:"
_SURE_LENGTH: Final = 12  # a shorter quote must be whole words: "R" is not in "Rust"
_LAST_SPACED: Final = "\u2e80"  # scripts from here on write without spaces


@dataclass(frozen=True)
class QuotedText:
    """A text and its folded form; ``places[i]`` is where the folded character ``i`` stands, and one more its end."""

    text: str
    folded: str
    places: tuple[int, ...]

    def find(self, quote: str) -> tuple[int, int] | None:
        """The span of ``text`` that says it; ``None`` where it does not."""
        if not any(sign.isalnum() for sign in quote):
            return None
        found = _find_words(self.text, quote.strip())
        if found is not None:
            return found
        wanted = fold_text(quote).folded.strip(_AROUND)
        for words in dict.fromkeys((wanted, wanted.strip(_ENDS))):
            found = _find_words(self.folded, words) if words else None
            if found is not None:
                return self._unfold(*found)
        return None

    def _unfold(self, start: int, end: int) -> tuple[int, int]:
        """A folded character may stand for several: what they are is taken whole, less the unseen at the end."""
        first = self.places[start]
        last = max(self.places[end], first + 1)
        while last > first + 1 and (self.text[last - 1].isspace() or self.text[last - 1] in _UNSEEN):
            last -= 1
        return first, last


def fold_text(text: str) -> QuotedText:
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        written = " " if character.isspace() else _FOLDED.get(character, character)
        if written == " " and folded and folded[-1] == " ":
            continue
        folded.extend(written)
        places.extend([place] * len(written))
    return QuotedText(text, "".join(folded), (*places, len(text)))


def _find_words(text: str, words: str) -> tuple[int, int] | None:
    """Preferably as whole words; only a long quote may begin or end within one."""
    first = start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if not _splits_word(text, start) and not _splits_word(text, end):
            return start, end
        start = text.find(words, start + 1)
    return (first, first + len(words)) if first >= 0 and len(words) >= _SURE_LENGTH else None


def _splits_word(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    return all(sign.isalnum() and sign < _LAST_SPACED for sign in text[at - 1 : at + 1])
