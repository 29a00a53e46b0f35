"""Checks that a machine reading the PDF finds the text as it was written, every line of it, in order.

pypdf follows Chromium's order of drawing, which is the page's own order. Its spaces are estimates: beside Chinese and
Japanese characters and at changes of font it adds some, so a space is only judged between two letters of one script.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from io import BytesIO
from typing import Any

from materials.chromium import CJK_REMEDY
from materials.contracts import LetterDocument, ResumeDocument, ResumeEntry
from materials.rendering.characters import fold_characters
from materials.rendering.failures import Flaw, TextLayerMismatch, TooLong
from materials.rendering.wording import (
    clean_document,
    find_headings,
    format_letter_date,
    format_skills,
    has_cjk,
    join_languages,
)

EMBEDDED = ("/FontFile", "/FontFile2", "/FontFile3")
SHOWN = 80


@dataclass(frozen=True, slots=True)
class PdfReading:
    """What a machine sees in a PDF. ``loose_fonts`` are those the file names and does not carry."""

    pages: int
    text: str
    loose_fonts: tuple[str, ...]


def read_pdf(pdf: bytes) -> PdfReading:
    from pypdf import PdfReader

    pages = PdfReader(BytesIO(pdf)).pages
    return PdfReading(
        pages=len(pages),
        text="\n".join(page.extract_text() for page in pages),
        loose_fonts=tuple(name for page in pages for name in _list_loose_fonts(page)),
    )


def extract_text(pdf: bytes) -> str:
    return read_pdf(pdf).text


@singledispatch
def expected_text(document: object) -> list[str]:
    """Every line the page shows, in reading order, clean of characters that do not print."""
    raise TypeError(f"{type(document).__name__} is not a document")


@expected_text.register
def _(document: ResumeDocument) -> list[str]:
    resume = clean_document(document)
    headings = find_headings(resume.language)
    lines = [resume.name, resume.label, *(contact.text for contact in resume.contacts)]
    if resume.summary:
        lines += [headings["summary"], *(line.text for line in resume.summary)]
    if resume.skills:
        lines.append(headings["skills"])
    for row in resume.skills:
        lines.append("".join(format_skills(row.group, (skill.text for skill in row.skills), language=resume.language)))
    for key in ("experience", "projects", "education", "credentials", "awards"):
        entries: tuple[ResumeEntry, ...] = getattr(resume, key)
        if entries:
            lines.append(headings[key])
        for entry in entries:
            lines += _list_entry_lines(entry)
    if resume.languages:
        lines += [headings["languages"], join_languages(resume.languages)]
    return [line.strip() for line in lines if line.strip()]


def _list_entry_lines(entry: ResumeEntry) -> list[str]:
    """Without bullets an entry takes one line, and its dates end it."""
    if not entry.lines:
        return [entry.title, entry.organization, entry.location, entry.dates]
    return [entry.title, entry.dates, entry.organization, entry.location, *(line.text for line in entry.lines)]


@expected_text.register
def _(document: LetterDocument) -> list[str]:
    letter = clean_document(document)
    lines = [letter.name, *(contact.text for contact in letter.contacts)]
    lines += [format_letter_date(letter.date, language=letter.language), letter.company, letter.title, letter.greeting]
    lines += [line.text for paragraph in letter.paragraphs for line in paragraph]
    return [line for line in (*lines, letter.closing, letter.signature) if line]


def verify_text_layer(pdf: bytes, *, expected: Sequence[str], page_limit: int | None = None) -> None:
    """Raises ``TooLong`` with the page count, or ``TextLayerMismatch`` naming the first flaw."""
    verify_reading(read_pdf(pdf), expected=expected, page_limit=page_limit)


def verify_reading(reading: PdfReading, *, expected: Sequence[str], page_limit: int | None = None) -> None:
    if page_limit is not None and reading.pages > page_limit:
        raise TooLong(pages=reading.pages, limit=page_limit)
    if reading.loose_fonts:
        raise TextLayerMismatch(Flaw.FONT_NOT_EMBEDDED, f"Font {reading.loose_fonts[0]} is not in the file.")
    verify_text(reading.text, expected=expected)


def verify_text(text: str, *, expected: Sequence[str]) -> None:
    """The pure part: extracted text against the lines that were written."""
    _verify_characters(text, expected="".join(expected))
    read = Reading.of(text)
    position = 0
    for line in expected:
        written = Reading.of(line)
        if is_right_to_left(line):
            _verify_words(line, read=read)
            continue
        position = _find_line(written, read=read, after=position, line=line)


@dataclass(frozen=True, slots=True)
class Reading:
    """Text without its spaces, and before which of its characters a space or a line break stood."""

    letters: str
    spaces: frozenset[int]
    breaks: frozenset[int]

    @classmethod
    def of(cls, text: str) -> "Reading":
        letters: list[str] = []
        spaces: set[int] = set()
        breaks: set[int] = set()
        for char in fold_characters(text):
            if char.isspace():
                (breaks if char == "\n" else spaces).add(len(letters))
            elif unicodedata.category(char) != "Cf":
                letters.append(char)
        return cls("".join(letters), frozenset(spaces), frozenset(breaks))


def is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in {"R", "AL"} for char in text)


def _find_line(written: Reading, *, read: Reading, after: int, line: str) -> int:
    """Where the line ends in what was read."""
    flaw: tuple[Flaw, str] | None = None
    start = read.letters.find(written.letters, after)
    while start >= 0:
        found = _find_space_flaw(written, read=read, start=start)
        if found is None:
            return start + len(written.letters)
        flaw = flaw or found
        start = read.letters.find(written.letters, start + 1)
    if flaw is not None:
        raise TextLayerMismatch(flaw[0], f"{flaw[1]} in: {line[:SHOWN]}")
    if written.letters in read.letters:
        raise TextLayerMismatch(Flaw.OUT_OF_ORDER, f"The text layer has this line in another place: {line[:SHOWN]}")
    raise TextLayerMismatch(Flaw.MISSING, f"The text layer lacks this line: {line[:SHOWN]}")


def _find_space_flaw(written: Reading, *, read: Reading, start: int) -> tuple[Flaw, str] | None:
    for index in range(1, len(written.letters)):
        before, behind = written.letters[index - 1], written.letters[index]
        if not (before.isalnum() and behind.isalnum()) or has_cjk(before + behind):
            continue
        is_apart = index in written.spaces or index in written.breaks
        if is_apart and start + index not in read.spaces | read.breaks:
            return Flaw.WORDS_JOINED, f"Two words run together ({before}{behind})"
        if not is_apart and start + index in read.spaces:
            return Flaw.WORD_BROKEN, f"A word is broken ({before} {behind})"
    return None


def _verify_words(line: str, *, read: Reading) -> None:
    """Hebrew and Arabic are drawn from the right, so their words are looked up one by one."""
    for word in line.split():
        if Reading.of(word).letters not in read.letters:
            raise TextLayerMismatch(Flaw.MISSING, f"The text layer lacks the word {word[:SHOWN]}")


def _verify_characters(text: str, *, expected: str) -> None:
    for char in text:
        if 0xFB00 <= ord(char) <= 0xFB06:
            raise TextLayerMismatch(Flaw.LIGATURE, f"The text layer holds a ligature (U+{ord(char):04X}).")
        if char == "\ufffd" or unicodedata.category(char) == "Co":
            raise TextLayerMismatch(Flaw.PRIVATE_USE, f"The text layer holds a nameless character (U+{ord(char):04X}).")
        if unicodedata.category(char) == "Cc" and not char.isspace():
            raise TextLayerMismatch(Flaw.MISSING_GLYPH, _describe_undrawn(text, expected=expected))


def _describe_undrawn(text: str, *, expected: str) -> str:
    """Chromium draws a box, glyph 0, for what no font has; it has no entry in the font's map and reads as U+0000."""
    undrawn = "".join(dict.fromkeys(char for char in fold_characters(expected) if char not in fold_characters(text)))
    remedy = CJK_REMEDY if has_cjk(undrawn) else "Install a font that has them."
    return f"No installed font has these characters: {undrawn[:20] or '?'} {remedy}"


def _list_loose_fonts(page: Any) -> Iterator[str]:
    for reference in page["/Resources"].get("/Font", {}).values():
        font = reference.get_object()
        if not _is_embedded(font):
            yield str(font.get("/BaseFont", "without a name"))


def _is_embedded(font: Any) -> bool:
    if font["/Subtype"] == "/Type3":
        return True
    carrier = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
    descriptor = carrier.get("/FontDescriptor")
    return descriptor is not None and any(name in descriptor.get_object() for name in EMBEDDED)
