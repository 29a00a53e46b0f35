"""What machines see in a PDF, read by two that share no code.

PDFium, the reader inside Chrome, knows where words end: Chromium leaves most spaces out of the file, every reader
infers them from the gaps, and PDFium's inference gives what was written, as poppler's does. But it takes the words of
a span that no font has from the file's notes and so does not see that a box was drawn. pypdf goes by the glyphs that
are drawn; its spaces are rough: it adds some beside Chinese and Japanese characters and where the font changes.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import Any, Final

EMBEDDED: Final = ("/FontFile", "/FontFile2", "/FontFile3")
HYPHEN_AT_THE_END: Final = "\ufffe"  # stands for the hyphen and the line break after it

_pdfium = Lock()  # the library is not made for threads; a document takes it for milliseconds


@dataclass(frozen=True, slots=True)
class PdfReading:
    """``text`` is PDFium's, ``glyphs`` is pypdf's; ``loose_fonts`` are those the file names and does not carry."""

    pages: int
    text: str
    glyphs: str
    loose_fonts: tuple[str, ...]


def read_pdf(pdf: bytes) -> PdfReading:
    from pypdf import PdfReader

    pages = PdfReader(BytesIO(pdf)).pages
    return PdfReading(
        pages=len(pages),
        text="\n".join(extract_pages(pdf)),
        glyphs="\n".join(page.extract_text() for page in pages),
        loose_fonts=tuple(name for page in pages for name in _list_loose_fonts(page)),
    )


def extract_pages(pdf: bytes) -> list[str]:
    """The text of each page, line by line in the order in which the page draws it."""
    from pypdfium2 import PdfDocument

    texts = []
    with _pdfium, closing(PdfDocument(pdf)) as document:
        for number in range(len(document)):
            with closing(document[number]) as page, closing(page.get_textpage()) as layer:
                texts.append(str(layer.get_text_range()))
    return [text.replace("\r\n", "\n").replace(HYPHEN_AT_THE_END, "-\n") for text in texts]


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
