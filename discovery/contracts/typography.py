"""Text as typed by people: cleaned for keeping, folded for comparing."""

import unicodedata
from functools import lru_cache

# Joiners carry meaning in Persian, Indic scripts and emoji; all other format characters are invisible noise.
_JOINERS = "\u200c\u200d"

_LINE = 600  # characters: the candidate's lines come again for each job, postings do not

_FOLDED = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
        "\u00ad": "",
    }
)


def clean_text(text: str) -> str:
    """One line without control or invisible characters; runs of blanks become one space."""
    if text.isprintable():  # nothing below would change it
        return " ".join(text.split())
    kept: list[str] = []
    for character in text:
        category = unicodedata.category(character)
        if category in ("Cc", "Zl", "Zp"):
            kept.append(" ")
        elif category == "Cf" and character not in _JOINERS:
            continue
        elif category != "Cs":
            kept.append(character)
    return " ".join("".join(kept).split()).strip(_JOINERS + " ")


def fold_text(text: str) -> str:
    """The form in which two texts are equal when only spacing, quotes or dashes differ. Case is kept."""
    return _recall_line(text) if len(text) <= _LINE else _fold(text)


@lru_cache(maxsize=4096)
def _recall_line(text: str) -> str:
    return _fold(text)


def _fold(text: str) -> str:
    return clean_text(unicodedata.normalize("NFC", text).translate(_FOLDED))
