"""What a PDF says to a machine, in two ways: as pypdf reads it, and as it is drawn, character by character.

A reader guesses spaces from gaps: beside Chinese and Japanese characters and where the font changes pypdf sees some
that nobody wrote. What is drawn has those of the file and no others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from materials.rendering.normalise import read_unicode_map

EMBEDDED: Final = ("/FontFile", "/FontFile2", "/FontFile3")
SAME_LINE: Final = 0.5  # points between two base lines that are one
UNKNOWN: Final = "\0"  # a glyph that the font gives no character for


@dataclass(frozen=True, slots=True)
class PdfReading:
    """``text`` is pypdf's; ``loose_fonts`` are those the file names and does not carry."""

    pages: int
    text: str
    drawn: str
    loose_fonts: tuple[str, ...]


def read_pdf(pdf: bytes) -> PdfReading:
    from pypdf import PdfReader

    pages = PdfReader(BytesIO(pdf)).pages
    drawings = [_Drawing(page) for page in pages]
    texts = [
        page.extract_text(visitor_operand_before=drawing.follow) for page, drawing in zip(pages, drawings, strict=True)
    ]
    return PdfReading(
        pages=len(pages),
        text="\n".join(texts),
        drawn="\n".join(drawing.text for drawing in drawings),
        loose_fonts=tuple(name for page in pages for name in _list_loose_fonts(page)),
    )


class _Drawing:
    """Follows a page's operators and notes the characters of each glyph; a line breaks where the base line moves."""

    def __init__(self, page: Any) -> None:
        fonts = page["/Resources"].get("/Font", {})
        self._fonts = {name: _read_font(reference.get_object()) for name, reference in fonts.items()}
        self._font: tuple[int, dict[int, str]] = (1, {})
        self._line: float | None = None
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def follow(self, operator: bytes, operands: Any, page: Any, text: Any) -> None:
        """As pypdf calls it before each operator, with the matrices of the page and of the text."""
        if operator == b"Tf":
            self._font = self._fonts.get(operands[0], (1, {}))
        elif operator in (b"Tj", b"TJ"):
            self._note_line(text[4] * page[1] + text[5] * page[3] + page[5])
            for shown in operands[0] if operator == b"TJ" else operands[:1]:
                self._parts += self._decode(getattr(shown, "original_bytes", shown))

    def _note_line(self, height: float) -> None:
        if self._line is not None and abs(height - self._line) > SAME_LINE:
            self._parts.append("\n")
        self._line = height

    def _decode(self, shown: Any) -> Iterator[str]:
        if isinstance(shown, bytes):  # the rest of a TJ are distances
            width, characters = self._font
            for start in range(0, len(shown), width):
                yield characters.get(int.from_bytes(shown[start : start + width], "big"), UNKNOWN)


def _read_font(font: Any) -> tuple[int, dict[int, str]]:
    """How many bytes a glyph's code takes, and the characters of each code."""
    characters = read_unicode_map(font["/ToUnicode"].get_data()) if "/ToUnicode" in font else {}
    return 2 if font["/Subtype"] == "/Type0" else 1, characters


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
