"""An estimate of a resume's length in lines of text, so that choosing needs no browser.

The figures are the document style sheet's, in lines of whichever style needs more of them.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil
from unicodedata import east_asian_width

from materials.contracts import ResumeDocument, ResumeEntry

WIDTH = 104  # characters of a Latin script; one of Chinese, Japanese or Korean takes two
_HEADER = 3.6  # name, label and the gap below
_CONTACT_WIDTH = 108
_CONTACT_GAP = 4  # in characters, between two contacts
_HEADING = 2.6
_SKILL_GAP = 0.15
_GAP = 0.55  # between entries
_BRIEF_GAP = 0.2  # between two of one line each
_DATES_GAP = 8  # in characters
_LIST_GAP = 0.15
_BULLET_GAP = 0.1
FIRST_BULLET = 1 + _LIST_GAP + _GAP - _BRIEF_GAP  # what an entry of one line grows by, beside the bullet itself


def estimate_lines(document: ResumeDocument) -> float:
    contacts = sum(measure(contact.text) + _CONTACT_GAP for contact in document.contacts)
    total = _HEADER + ceil(contacts / _CONTACT_WIDTH)
    summary = " ".join(line.text for line in document.summary)
    if summary:
        total += _HEADING + _count_lines(measure(summary))
    if document.skills:
        total += _HEADING
    for row in document.skills:
        total += _SKILL_GAP + _count_lines(measure(row.group) + sum(measure(skill.text) + 2 for skill in row.skills))
    sections = (document.experience, document.projects, document.education, document.credentials, document.awards)
    total += sum(_estimate_section(entries) for entries in sections if entries)
    if document.languages:
        total += _HEADING + _count_lines(_count_characters(document.languages))
    return total


@lru_cache(maxsize=2048)  # the candidate's lines come again for each job
def measure(text: str) -> int:
    """A text's width in characters of a Latin script."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def estimate_bullet(text: str) -> float:
    return _count_lines(measure(text)) + _BULLET_GAP


def estimate_bullets(texts: Iterable[str], *, entries: int) -> float:
    """What these bullets add to so many entries that had none before."""
    return sum(map(estimate_bullet, texts)) + FIRST_BULLET * entries


def _estimate_section(entries: Sequence[ResumeEntry]) -> float:
    gaps = sum(_GAP if entry.lines or before.lines else _BRIEF_GAP for before, entry in pairwise(entries))
    return _HEADING + gaps + sum(_estimate_entry(entry) for entry in entries)


def _estimate_entry(entry: ResumeEntry) -> float:
    if not entry.lines:
        return _count_lines(_count_characters((entry,)) + _DATES_GAP)
    place = 1 if entry.organization or entry.location else 0
    title = _count_lines(measure(entry.title) + measure(entry.dates) + _DATES_GAP)
    return title + place + _LIST_GAP + sum(estimate_bullet(line.text) for line in entry.lines)


def _count_characters(entries: Iterable[ResumeEntry]) -> int:
    """Of one line that holds them all."""
    texts = [text for entry in entries for text in (entry.title, entry.organization, entry.location, entry.dates)]
    return sum(measure(text) + 2 for text in texts if text)


def _count_lines(characters: int) -> int:
    return max(1, ceil(characters / WIDTH))
