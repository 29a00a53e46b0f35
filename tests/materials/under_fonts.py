"""``python -m tests.materials.under_fonts [LEFT_OUT ...]``: many documents in every style and on every paper, with the fonts that this
process has (FONTCONFIG_FILE), since fonts are found once a process.

Prints a JSON object by document: its ``pages``, the ``flaw`` that PDFium's reading of it has ("" for none), and the
``ligatures``: what a glyph stands for where that is more than one character.
"""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from itertools import product

import django
from pypdf import PdfReader

from materials.contracts import ContactLine, LetterDocument, ResumeDocument
from tests.materials import pictures
from tests.materials.pdfium import extract_pages
from tests.materials.written_documents import (
    ACCENTED_RESUME,
    JAPANESE_RESUME,
    LETTER,
    LONG_RESUME,
    MIXED_LETTER,
    SHORT_RESUME,
    write_entry,
    write_lines,
)

#: Pairs whose kerning narrows the space between them.
KERNED = replace(
    SHORT_RESUME,
    label="Data Analyst, QA Automation",
    contacts=(ContactLine("Los Angeles, CA"), ContactLine("Austin, AL"), ContactLine("St. Albans")),
    summary=write_lines(
        "Software Architect, Cloud Architect and Lead AI Engineer at Via Appia, A. Y. Avenue, D’ Angelo: efficient office workflow, first fjords."
    ),
    experience=(
        write_entry("Senior QA Analyst", "Toyota Aviation", "Buenos Aires", "2019 – 2020", "Vor- und Nachteile"),
    ),
)
#: Words in which most fonts leave a letter to another one.
BORROWED = replace(
    SHORT_RESUME,
    name="Nguyễn Thị Ánh",
    label="Əliyev, Hawaiʻi, Шаңсұлу, Trần Hữu Đức",
    summary=write_lines("Cut CO₂ by a third with an O(n⁴) method; 3⅓ years in ἀρχή and H₂O."),
)
#: So little that a reader may take the page for columns.
SPARSE = replace(
    SHORT_RESUME,
    label="IT Support",
    contacts=(ContactLine("Cork"),),
    summary=(),
    skills=(),
    experience=(write_entry("Tutor", "MIT", "", "2023", "Led IT"),),
    education=(write_entry("BSc", "UCC", "Cork", "2020 – 2024"),),
)


def list_documents() -> Iterator[tuple[str, ResumeDocument | LetterDocument]]:
    yield from {"long": LONG_RESUME, "short": SHORT_RESUME, "accented": ACCENTED_RESUME, "kerned": KERNED}.items()
    yield from {
        "borrowed": BORROWED,
        "sparse": SPARSE,
        "japanese": JAPANESE_RESUME,
        "letter": LETTER,
        "mixed": MIXED_LETTER,
    }.items()
    for name, wanted in pictures.WANTED.items():
        resume, letter = pictures.write_for(*wanted)
        yield f"{name} resume", resume
        yield f"{name} letter", letter


def list_ligatures(pdf: bytes) -> list[str]:
    """A font's map hides them from every reader that follows it, and from no other."""
    from materials.rendering.normalise import read_unicode_map

    fonts = [
        font.get_object() for page in PdfReader(BytesIO(pdf)).pages for font in page["/Resources"]["/Font"].values()
    ]
    shown = [text for font in fonts for text in read_unicode_map(font["/ToUnicode"].get_data()).values()]
    return [text for text in shown if len(text) > 1]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")
    os.environ.setdefault("SECRET_KEY", "none is needed")  # so that no workspace is made
    django.setup()
    from materials.rendering import renderer
    from materials.rendering.documents import PAPERS, STYLES, render_letter, render_resume
    from materials.rendering.failures import TextLayerMismatch
    from materials.rendering.text_layer import expected_text, verify_drawing

    told = {}
    try:
        for (name, document), style, paper in product(list_documents(), STYLES, PAPERS):
            if name in sys.argv[1:]:
                continue
            if isinstance(document, ResumeDocument):
                printed = render_resume(document, style=style, paper=paper)
            else:
                printed = render_letter(document, style=style, paper=paper)
            flaw = ""
            try:
                verify_drawing("\n".join(extract_pages(printed.data)), expected=expected_text(document))
            except TextLayerMismatch as mismatch:
                flaw = str(mismatch)
            told[f"{name}, {style}, {paper}"] = {
                "pages": printed.pages, "flaw": flaw, "ligatures": list_ligatures(printed.data),
            }  # fmt: skip
    finally:
        renderer.shutdown()
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
