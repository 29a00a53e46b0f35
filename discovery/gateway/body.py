"""A response body within a size that is counted after decompression."""

import zlib
from collections.abc import Iterable
from typing import Final

from discovery.gateway.errors import BadContent, NetworkFailure, TooLarge

GZIP: Final = 31  # zlib's window bits for a gzip header


def read_body(chunks: Iterable[bytes], *, encoding: str, max_bytes: int) -> bytes:
    """Raises TooLarge at the first byte too many, before the rest is read or inflated."""
    match encoding.strip().lower():
        case "" | "identity":
            return _read_plain(chunks, max_bytes=max_bytes)
        case "gzip" | "x-gzip":
            return _read_gzip(chunks, max_bytes=max_bytes)
    raise BadContent("The answer is compressed in a way that was not asked for.", code="UNSUPPORTED_ENCODING")


def read_start(chunks: Iterable[bytes], *, encoding: str, max_bytes: int) -> bytes:
    """The body of an error page, where the status matters more: "" if it cannot be had within the size."""
    try:
        return read_body(chunks, encoding=encoding, max_bytes=max_bytes)
    except (BadContent, TooLarge):
        return b""


def _read_plain(chunks: Iterable[bytes], *, max_bytes: int) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > max_bytes:
            raise TooLarge
    return bytes(body)


def _read_gzip(chunks: Iterable[bytes], *, max_bytes: int) -> bytes:
    body = bytearray()
    received = 0
    inflater = zlib.decompressobj(GZIP)
    for chunk in chunks:
        received += len(chunk)
        if received > max_bytes:
            raise TooLarge
        pending = chunk
        while pending:
            if inflater.eof:  # a gzip file may have several members
                inflater = zlib.decompressobj(GZIP)
            try:
                body += inflater.decompress(pending, max_bytes - len(body) + 1)
            except zlib.error:
                raise BadContent("The compressed answer is damaged.", code="DAMAGED_ENCODING") from None
            if len(body) > max_bytes:
                raise TooLarge
            pending = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if received and not inflater.eof:
        raise NetworkFailure("The answer ended too early.", code="CONNECTION_LOST")
    return bytes(body)
