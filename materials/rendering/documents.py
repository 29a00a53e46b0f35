"""A document to a verified PDF."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal
from urllib.parse import urlsplit

from django.template.loader import render_to_string

from materials.chromium import CJK_REMEDY, find_cjk_font
from materials.contracts import LetterDocument, ResumeDocument
from materials.rendering.failures import RenderCode, RenderFailed
from materials.rendering.normalise import normalise_pdf
from materials.rendering.pdf_reading import read_pdf
from materials.rendering.renderer import render_pdf
from materials.rendering.text_layer import expected_text, verify_reading
from materials.rendering.wording import (
    choose_cjk_region,
    clean_document,
    find_headings,
    format_letter_date,
    format_skills,
    has_cjk,
    join_languages,
    join_sentences,
)

Style = Literal["plain", "modern"]
Paper = Literal["a4", "letter"]
STYLES: tuple[Style, ...] = ("plain", "modern")
PAPERS: tuple[Paper, ...] = ("a4", "letter")
RESUME_PAGES = 2
LETTER_PAGES = 1
SHORT_LETTER = 1700  # characters in all; up to here larger type and wider margins balance the page
PAGE_NUMBER = "0123456789/"
LINKED = frozenset({"http", "https", "mailto", "tel"})


@dataclass(frozen=True, slots=True)
class RenderedPdf:
    """``text`` is the text layer as read back; ``sha256`` is of ``data``."""

    data: bytes
    pages: int
    text: str
    sha256: str


def render_resume(
    document: ResumeDocument,
    *,
    style: Style = "modern",
    paper: Paper = "a4",
    created: datetime | None = None,
    timeout_seconds: float = 30.0,
) -> RenderedPdf:
    """One document gives the same bytes every time, apart from ``created`` (left out of the file when ``None``).

    Raises ``RenderFailed``: ``TooLong`` beyond two pages, ``TextLayerMismatch`` where a machine would misread it.
    """
    return _render(
        document, kind="resume", style=style, paper=paper, limit=RESUME_PAGES, created=created, timeout=timeout_seconds
    )


def render_letter(
    document: LetterDocument,
    *,
    style: Style = "modern",
    paper: Paper = "a4",
    created: datetime | None = None,
    timeout_seconds: float = 30.0,
) -> RenderedPdf:
    """As ``render_resume``, on one page."""
    return _render(
        document, kind="letter", style=style, paper=paper, limit=LETTER_PAGES, created=created, timeout=timeout_seconds
    )


def render_html(document: ResumeDocument | LetterDocument, *, style: Style, paper: Paper) -> str:
    """The page Chromium prints: self-contained, without scripts."""
    if style not in STYLES or paper not in PAPERS:
        raise ValueError(f"style is one of {STYLES} and paper one of {PAPERS}")
    kind = "resume" if isinstance(document, ResumeDocument) else "letter"
    clean = clean_document(document)
    context: dict[str, object] = {
        "document": clean,
        "title": name_document(clean),
        "headings": find_headings(clean.language),
        "links": [(contact.text, find_link(contact.href)) for contact in clean.contacts],
        "kind": kind,
        "style": style,
        "paper": paper,
        "region": choose_cjk_region("".join(expected_text(clean)), language=clean.language),
    }
    if isinstance(clean, LetterDocument):
        context["date"] = format_letter_date(clean.date, language=clean.language)
        context["is_short"] = sum(map(len, expected_text(clean))) <= SHORT_LETTER
        context["paragraphs"] = [join_sentences(line.text for line in lines) for lines in clean.paragraphs]
    else:
        context["summary"] = join_sentences(line.text for line in clean.summary)
        context["skills"] = [
            format_skills(row.group, (skill.text for skill in row.skills), language=clean.language)
            for row in clean.skills
        ]
        context["languages"] = join_languages(clean.languages)
    return render_to_string(f"materials/{kind}.html", context)


def name_document(document: ResumeDocument | LetterDocument) -> str:
    """The title a reader's window shows."""
    subject = document.label if isinstance(document, ResumeDocument) else document.company
    return " – ".join(part for part in (document.name, subject) if part)


def find_link(href: str) -> str:
    """``href`` if it is of a kind a document may link to, else ""."""
    try:
        return href if urlsplit(href).scheme.lower() in LINKED else ""
    except ValueError:
        return ""


def _render(
    document: ResumeDocument | LetterDocument,
    *,
    kind: str,
    style: Style,
    paper: Paper,
    limit: int,
    created: datetime | None,
    timeout: float,
) -> RenderedPdf:
    expected = expected_text(document)
    source = "".join(expected) + PAGE_NUMBER
    if has_cjk(source) and not find_cjk_font():
        raise RenderFailed(RenderCode.FONT_MISSING, f"The {kind} has Chinese, Japanese or Korean text. {CJK_REMEDY}")
    clean = clean_document(document)
    printed = render_pdf(render_html(document, style=style, paper=paper), timeout_seconds=timeout)
    data = normalise_pdf(printed, source=source, title=name_document(clean), author=clean.name, created=created)
    reading = read_pdf(data)
    verify_reading(reading, expected=expected, page_limit=limit)
    return RenderedPdf(data=data, pages=reading.pages, text=reading.text, sha256=sha256(data).hexdigest())
