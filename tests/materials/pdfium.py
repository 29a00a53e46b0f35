"""How PDFium, the reader inside Chrome, reads and shows a document. It infers spaces and lines by rules of its own."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

SHARPNESS = 2.0  # pixels for each point of the page
HYPHEN_AT_THE_END = "\ufffe"  # stands for the hyphen and the line break after it


def extract_pages(pdf: bytes) -> list[str]:
    """The text of each page, a line each."""
    texts = []
    for page in _open_pages(pdf):
        with closing(page.get_textpage()) as layer:
            texts.append(str(layer.get_text_range()))
    return [text.replace("\r\n", "\n").replace(HYPHEN_AT_THE_END, "-\n") for text in texts]


def take_pictures(pdf: bytes, folder: Path, name: str) -> int:
    """FOLDER/NAME-PAGE.png for each page; how many there are."""
    number = 0
    for number, page in enumerate(_open_pages(pdf), start=1):
        page.render(scale=SHARPNESS).to_pil().save(folder / f"{name}-{number}.png")
    return number


def _open_pages(pdf: bytes) -> Iterator[Any]:
    from pypdfium2 import PdfDocument

    with closing(PdfDocument(pdf)) as document:
        for number in range(len(document)):
            with closing(document[number]) as page:
                yield page
