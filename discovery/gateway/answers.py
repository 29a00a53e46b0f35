"""What an answer means: its status, and JSON that is JSON."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Never
from urllib.parse import urlsplit

from discovery.gateway.errors import BadContent, Denied, NotFound, SourceUnavailable
from discovery.gateway.fetch import LOST, REAL_NETWORK, Network, Response, fetch

MAX_RETRY_AFTER_SECONDS: Final = 86_400.0
_BUSY: Final = frozenset({408, 425, 429})
_DENIED: Final = frozenset({401, 403, 407, 451})
_GONE: Final = frozenset({404, 410})
_PAGES: Final = frozenset({"", "text/html", "application/xhtml+xml", "text/plain"})
_XML: Final = frozenset({"application/xml", "text/xml"})  # a page, or a feed
_NO_PAGES: Final = (b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b")
SNIFFED: Final = 4096  # characters
MOST_LOST: Final = 0.15  # of them: letters of another encoding than was named
MOST_NOISE: Final = 0.02  # of them: control characters, of which text has next to none
_MARKUP: Final = frozenset({"text/html", "application/xhtml+xml", "text/xml", "application/xml"})


def fetch_json(
    url: str,
    *,
    max_bytes: int = 8_000_000,
    timeout_seconds: float = 20.0,
    max_redirects: int = 5,
    cancelled: Callable[[], bool] | None = None,
    network: Network = REAL_NETWORK,
) -> object:
    """The JSON of a 2xx answer; raises as ``fetch``, ``check_status`` and ``decode_json`` do."""
    response = fetch(
        url,
        max_bytes=max_bytes,
        timeout_seconds=timeout_seconds,
        max_redirects=max_redirects,
        cancelled=cancelled,
        network=network,
    )
    check_status(response)
    return decode_json(response)


def check_status(response: Response) -> None:
    """Returns on 2xx, else raises NotFound, Denied, SourceUnavailable or BadContent (UNEXPECTED_STATUS)."""
    status = response.status
    if 200 <= status < 300:
        return
    host = _read_host(response)
    if status in _GONE:
        raise NotFound(host=host)
    if status in _DENIED:
        raise Denied(host=host)
    if status in _BUSY or status >= 500:
        wait = read_retry_after(response.headers.get("retry-after", ""), now=datetime.now(UTC))
        raise SourceUnavailable(
            f"The site cannot answer now (status {status}).", status=status, host=host, retry_after=wait
        )
    raise BadContent(f"The site answered with status {status}.", code="UNEXPECTED_STATUS", host=host)


def read_retry_after(value: str, *, now: datetime) -> float | None:
    """Seconds from now, at most a day; RFC 9110 allows a number or a date."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:12]), MAX_RETRY_AFTER_SECONDS)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER_SECONDS)


def decode_page(response: Response) -> str:
    """The page's markup; raises BadContent (NOT_A_PAGE) for what is none: a picture, a PDF, data, a feed.

    Where the site did not say what it sends, or says that noise is a page, the bytes decide.
    """
    text = response.decode_text()
    start = text[:SNIFFED]
    noise = sum(character < " " and character not in "\t\n\f\r" for character in start)
    is_noise = noise > len(start) * MOST_NOISE or start.count(LOST) > len(start) * MOST_LOST
    is_page = response.content_type in _PAGES or (response.content_type in _XML and "<html" in start.lower())
    if not is_page or is_noise or response.body.startswith(_NO_PAGES):
        raise BadContent("The site sent something else than a web page.", code="NOT_A_PAGE", host=_read_host(response))
    return text


def decode_json(response: Response) -> object:
    """Raises BadContent: EMPTY_BODY, HTML_INSTEAD_OF_JSON, TRUNCATED_JSON, JSON_TOO_DEEP or INVALID_JSON.

    Duplicate keys are tolerated, the last one counts, as with every reader of these boards. NaN and Infinity
    are refused: they are not JSON, and neither database could store them.
    """
    host = _read_host(response)
    text = response.body.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        raise BadContent("The answer is empty.", code="EMPTY_BODY", host=host)
    if text.startswith(b"<") or response.content_type in _MARKUP:
        raise BadContent("The site sent a web page where data was expected.", code="HTML_INSTEAD_OF_JSON", host=host)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise BadContent("The data is nested too deeply.", code="JSON_TOO_DEEP", host=host) from None
    except json.JSONDecodeError as failure:
        if is_cut_off(failure):
            raise BadContent("The data ends in the middle.", code="TRUNCATED_JSON", host=host) from None
        raise BadContent("The data is not valid JSON.", code="INVALID_JSON", host=host) from None
    except ValueError:
        raise BadContent("The data is not valid JSON.", code="INVALID_JSON", host=host) from None


def is_cut_off(failure: json.JSONDecodeError) -> bool:
    """The parser ran out of text, or a string never ended."""
    return failure.pos >= len(failure.doc.rstrip()) or failure.msg.startswith("Unterminated string")


def _refuse_constant(name: str) -> Never:
    raise ValueError(name)


def _read_host(response: Response) -> str:
    return urlsplit(response.url).hostname or ""
