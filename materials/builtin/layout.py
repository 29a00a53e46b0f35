"""An estimate of a resume's length in lines of text, so that choosing needs no browser.

The figures are those of the document style sheet, rounded up: the estimate errs towards longer.
"""

from math import ceil

from materials.contracts import ResumeDocument, ResumeEntry

WIDTH = 100  # characters
_HEADER = 4.3  # name, label and the gap below
_CONTACT_WIDTH = 105
_HEADING = 2.6
_GAP = 0.65  # between entries
_BULLET_GAP = 0.15
_LIST_GAP = 0.2


def estimate_lines(document: ResumeDocument) -> float:
    contacts = sum(len(contact.text) + 5 for contact in document.contacts)
    total = _HEADER + ceil(contacts / _CONTACT_WIDTH)
    summary = " ".join(line.text for line in document.summary)
    if summary:
        total += _HEADING + ceil(len(summary) / WIDTH)
    if document.skills:
        total += _HEADING
    for row in document.skills:
        total += 0.2 + ceil((len(row.group) + 3 + sum(len(skill.text) + 2 for skill in row.skills)) / WIDTH)
    for entries in (document.experience, document.projects, document.education, document.credentials):
        if entries:
            total += _HEADING - _GAP + sum(_estimate_entry(entry) for entry in entries)
    return total


def estimate_bullet(text: str) -> float:
    return ceil(len(text) / WIDTH) + _BULLET_GAP


def _estimate_entry(entry: ResumeEntry) -> float:
    place = 1 if entry.organization or entry.location else 0
    title = ceil((len(entry.title) + len(entry.dates)) / (WIDTH * 0.9)) or 1
    return title + place + _GAP + _LIST_GAP + sum(estimate_bullet(line.text) for line in entry.lines)
