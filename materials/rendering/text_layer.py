"""Checks that a machine reading the PDF finds the text as it was written: every line and space of it, in order."""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch

from materials.chromium import CJK_REMEDY
from materials.contracts import LetterDocument, ResumeDocument, ResumeEntry
from materials.rendering.characters import fold_characters
from materials.rendering.failures import Flaw, TextLayerMismatch, TooLong
from materials.rendering.pdf_reading import PdfReading, read_pdf
from materials.rendering.wording import (
    clean_document,
    find_headings,
    format_letter_date,
    format_skills,
    has_cjk,
    join_languages,
)

SHOWN = 80


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
    verify_drawing(reading.drawn, expected=expected)


def verify_text(text: str, *, expected: Sequence[str]) -> None:
    """What a reader extracts against the lines that were written.

    Its spaces are estimates: one is missed only between two letters of one script, and is too many only between two
    plain ones, since it sees a gap where the font changes inside a word (Nguyễn).
    """
    _verify_characters(text, expected="".join(expected))
    _verify_lines(Reading.of(text), expected=expected, judges=_is_inside_words)


def verify_drawing(drawn: str, *, expected: Sequence[str]) -> None:
    """The characters that are drawn against the lines that were written: every space, and none too many.

    Lines with right-to-left text are left out: they are drawn from their end.
    """
    _verify_characters(drawn, expected="".join(expected))
    lines = [line for line in expected if not is_right_to_left(line)]
    _verify_lines(Reading.of(drawn), expected=lines, judges=lambda pair, flaw: True)


def _verify_lines(read: "Reading", *, expected: Sequence[str], judges: "Judges") -> None:
    position = 0
    skipped: TextLayerMismatch | None = None
    for line in expected:
        if is_right_to_left(line):
            _verify_words(line, read=read)
            continue
        try:
            position, flaw = _find_line(line, read=read, after=position, judges=judges)
        except TextLayerMismatch as mismatch:
            # A flawed line whose words come again further on was taken for those; what lies between is then missed.
            raise skipped or mismatch from None
        skipped = skipped or flaw


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
            elif unicodedata.category(char) != "Cf" and not "\ufe00" <= char <= "\ufe0f":  # chooses a sign's shape
                letters.append(char)
        return cls("".join(letters), frozenset(spaces), frozenset(breaks))

    def is_apart(self, index: int) -> bool:
        """Whether anything parts this letter from the one before it."""
        return index in self.spaces or index in self.breaks


Judges = Callable[[str, Flaw], bool]  # whether this can be told of what stands between these two letters


def is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in {"R", "AL"} for char in text)


def _find_line(line: str, *, read: Reading, after: int, judges: Judges) -> tuple[int, TextLayerMismatch | None]:
    """Where the line ends in what was read, and the flaw of an earlier place that has its letters, too."""
    written = Reading.of(line)
    flaw: TextLayerMismatch | None = None
    start = read.letters.find(written.letters, after)
    while start >= 0:
        found = _find_space_flaw(written, read=read, start=start, judges=judges)
        if found is None:
            return start + len(written.letters), flaw
        flaw = flaw or TextLayerMismatch(found[0], f"{found[1]} in: {line[:SHOWN]}")
        start = read.letters.find(written.letters, start + 1)
    if flaw is not None:
        raise flaw
    if written.letters in read.letters:
        raise TextLayerMismatch(Flaw.OUT_OF_ORDER, f"The text layer has this line in another place: {line[:SHOWN]}")
    raise TextLayerMismatch(Flaw.MISSING, f"The text layer lacks this line: {line[:SHOWN]}")


def _find_space_flaw(written: Reading, *, read: Reading, start: int, judges: Judges) -> tuple[Flaw, str] | None:
    """A line may break anywhere; a space stands where one was written, and nowhere else."""
    for index in range(1, len(written.letters)):
        pair = written.letters[index - 1 : index + 1]
        if written.is_apart(index):
            if not read.is_apart(start + index) and judges(pair, Flaw.WORDS_JOINED):
                return Flaw.WORDS_JOINED, f"Two words run together ({pair})"
        elif start + index in read.spaces and judges(pair, Flaw.WORD_BROKEN):
            return Flaw.WORD_BROKEN, f"There is a space too many ({pair[0]} {pair[1]})"
    return None


def _is_inside_words(pair: str, flaw: Flaw) -> bool:
    if flaw is Flaw.WORD_BROKEN:
        return pair.isascii() and pair.isalpha()
    return pair.isalnum() and not has_cjk(pair)


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
