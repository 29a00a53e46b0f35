"""Makes Chromium's PDF depend on the document alone, and its text layer name the characters that were meant."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from typing import Any

from materials.rendering.characters import find_meant

PRODUCER = "jobctrl"
BLOCK = re.compile(rb"\d+ beginbf(char|range)\n(.*?)endbf\1\n?", re.DOTALL)
HEX = re.compile(rb"<([0-9A-Fa-f]+)>")
ENTRIES_PER_BLOCK = 100  # limit of the CMap format


def normalise_pdf(data: bytes, *, source: str, title: str, author: str, created: datetime | None = None) -> bytes:
    """``source`` is all text of the document. Without ``created`` (aware) the file carries no dates at all."""
    from pypdf import PdfWriter
    from pypdf.generic import ArrayObject, ByteStringObject, NameObject

    writer = PdfWriter(clone_from=BytesIO(data))
    writer.pdf_header = data[:8].decode("latin-1")  # pypdf would claim 1.3, which knows no tags
    known = set(source)
    for page in writer.pages:
        for font in _list_fonts(page):
            if "/ToUnicode" in font:
                _mend_map(font["/ToUnicode"], known=known)
    details = {"/Title": title, "/Author": author, "/Producer": PRODUCER, "/Creator": PRODUCER}
    if created is not None:
        stamp = created.astimezone(UTC).strftime("D:%Y%m%d%H%M%SZ")
        details |= {"/CreationDate": stamp, "/ModDate": stamp}
    writer.metadata = details
    mark = ByteStringObject(sha256(f"{title}\n{source}".encode()).digest()[:16])
    writer._root_object[NameObject("/ViewerPreferences")] = _prefer_title()
    writer._ID = ArrayObject((mark, mark))
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


def read_unicode_map(cmap: bytes) -> dict[int, str]:
    """The characters that a font's map gives for each glyph code."""
    return {code: target for match in BLOCK.finditer(cmap) for code, target in _read_block(match)}


def mend_unicode_map(cmap: bytes, *, known: set[str]) -> bytes:
    """The same map with every look-alike replaced by the character of the document; unchanged where none is."""

    def mend_block(match: re.Match[bytes]) -> bytes:
        entries = [
            (code, b"".join(find_meant(char, source=known).encode("utf-16-be") for char in target))
            for code, target in _read_block(match)
        ]
        return _write_block(entries, digits=len(_read_hex(match[2])[0]))

    changes = any(
        find_meant(char, source=known) != char
        for match in BLOCK.finditer(cmap)
        for _, target in _read_block(match)
        for char in target
    )
    return BLOCK.sub(mend_block, cmap) if changes else cmap


def _list_fonts(page: Any) -> Iterator[Any]:
    for reference in page["/Resources"].get("/Font", {}).values():
        yield reference.get_object()


def _mend_map(stream: Any, *, known: set[str]) -> None:
    old = stream.get_data()
    new = mend_unicode_map(old, known=known)
    if new != old:
        stream.set_data(new)


def _prefer_title() -> Any:
    from pypdf.generic import BooleanObject, DictionaryObject, NameObject

    return DictionaryObject({NameObject("/DisplayDocTitle"): BooleanObject(True)})


def _read_hex(text: bytes) -> list[bytes]:
    return HEX.findall(text)


def _read_block(match: re.Match[bytes]) -> Iterator[tuple[int, str]]:
    """Pairs of glyph code and text; a range is spelled out."""
    values = _read_hex(match[2])
    if match[1] == b"char":
        for code, target in zip(values[::2], values[1::2], strict=True):
            yield int(code, 16), bytes.fromhex(target.decode()).decode("utf-16-be")
        return
    for first, last, target in zip(values[::3], values[1::3], values[2::3], strict=True):
        start = bytes.fromhex(target.decode()).decode("utf-16-be")
        for step in range(int(last, 16) - int(first, 16) + 1):
            yield int(first, 16) + step, start[:-1] + chr(ord(start[-1]) + step)


def _write_block(entries: list[tuple[int, bytes]], *, digits: int) -> bytes:
    blocks = []
    for start in range(0, len(entries), ENTRIES_PER_BLOCK):
        part = entries[start : start + ENTRIES_PER_BLOCK]
        lines = b"".join(b"<%0*X> <%s>\n" % (digits, code, text.hex().upper().encode()) for code, text in part)
        blocks.append(b"%d beginbfchar\n%sendbfchar\n" % (len(part), lines))
    return b"".join(blocks)
