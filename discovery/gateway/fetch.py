"""The one way out to boards and posting pages."""

import codecs
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.conf import settings

from discovery.gateway.body import read_body, read_start
from discovery.gateway.destination import (
    Destination,
    Resolver,
    check_target,
    follow_redirect,
    parse_target,
    resolve_host,
)
from discovery.gateway.errors import BadContent, FetchError, NetworkFailure, TooLarge
from discovery.gateway.watch import Watch

if TYPE_CHECKING:
    import httpcore

    from discovery.gateway.connection import Dialer

USER_AGENT: Final = "jobctrl/0.1.0 (+personal job search; one person's own computer)"
READ_SECONDS: Final = 10.0  # silence that ends a fetch before its deadline does
ERROR_BODY_BYTES: Final = 64 * 1024
CHECK_SECONDS: Final = 10.0
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MARKS: Final = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
HEAD_BYTES: Final = 16 * 1024  # in which a page names its encoding
LOST: Final = "\N{REPLACEMENT CHARACTER}"
MOST_ACCENTED: Final = 0.5  # of a text's letters, in the languages that windows-1252 is for
_META_CHARSET: Final = re.compile(
    r"<(?:meta|\?xml)\b[^>]*?\b(?:charset|encoding)\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE
)
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Network:
    """How the gateway reaches the world; None stands for the real thing. A seam for tests."""

    resolve: Resolver = resolve_host
    dial: "Dialer | None" = None
    tls: ssl.SSLContext | None = None


REAL_NETWORK: Final = Network()


@dataclass(frozen=True, slots=True)
class Response:
    """A final answer, of whatever status. Header names are in lower case, cookies are left out."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str  # where the redirects ended
    content_type: str  # without parameters, "" where the site did not say

    def decode_text(self) -> str:
        """The body as text: by its byte order mark or header, else as UTF-8 where it is that, else by its own meta tag.

        Where nothing names another encoding it is read as browsers do, as windows-1252, if that gives words. Unreadable
        bytes are replaced.
        """
        for mark, encoding in _MARKS.items():
            if self.body.startswith(mark):
                return self.body.decode(encoding, "replace")
        named = _CHARSET.search(self.headers.get("content-type", ""))
        if named is None:
            with suppress(UnicodeError):
                return self.body.decode("utf-8")
            named = _META_CHARSET.search(self.body[:HEAD_BYTES].decode("latin-1"))
        try:
            if named is not None and not named[1].lower().startswith("utf-16"):  # no page in that could name it so
                return self.body.decode(named[1], "replace")
        except (LookupError, UnicodeError):
            pass
        return _decode_unnamed(self.body)


def _decode_unnamed(body: bytes) -> str:
    as_utf = body.decode("utf-8", "replace")
    lost = as_utf.count(LOST)
    if lost * 2 < sum(letter > "\x7f" for letter in as_utf):  # UTF-8 with a few bad bytes
        return as_utf
    text = body.decode("cp1252", "replace")
    letters = [letter for letter in text if letter.isalpha()]
    return text if sum(letter > "\x7f" for letter in letters) <= len(letters) * MOST_ACCENTED else as_utf


def fetch(
    url: str,
    *,
    accept: str = "application/json",
    max_bytes: int = 8_000_000,
    timeout_seconds: float = 20.0,
    max_redirects: int = 5,
    cancelled: Callable[[], bool] | None = None,
    network: Network = REAL_NETWORK,
) -> Response:
    """GETs a public page; safe in threads. ``timeout_seconds`` bounds the whole of it, redirects included.

    Every hop is resolved once, checked and connected to at the checked address, on a connection of its own:
    a pooled one would outlive its check. Error statuses are returned, not raised (see ``check_status``).
    Raises a FetchError, or FetchCancelled within a fraction of a second after ``cancelled`` says so.
    """
    watch = Watch(timeout_seconds=timeout_seconds, cancelled=cancelled)
    target = parse_target(url)
    exceptions: Sequence[str] = settings.JOBCTRL_ALLOW_PRIVATE_HOSTS
    for hop in range(max_redirects + 1):
        destination = check_target(target, watch=watch, resolve=network.resolve, exceptions=exceptions, hop=hop)
        try:
            watch.check()  # a literal address was judged without waiting, and so without asking
            response = _request(destination, accept=accept, max_bytes=max_bytes, watch=watch, network=network)
        except FetchError as failure:
            failure.name_host(target.host)
            raise
        location = response.headers.get("location", "")
        if response.status not in _REDIRECTS or not location:
            return response
        target = follow_redirect(target, location, hop=hop + 1)
        if not destination.exempt:
            exceptions = ()  # the operator's exception is for their own addresses, not for a stranger's redirect
    raise BadContent("The site redirects without end.", code="TOO_MANY_REDIRECTS", host=target.host)


def check_destination(
    url: str,
    *,
    timeout_seconds: float = CHECK_SECONDS,
    cancelled: Callable[[], bool] | None = None,
    network: Network = REAL_NETWORK,
) -> None:
    """Resolves and judges, connects to nothing. Raises UnsafeDestination, or NetworkFailure without an answer."""
    watch = Watch(timeout_seconds=timeout_seconds, cancelled=cancelled)
    exceptions: Sequence[str] = settings.JOBCTRL_ALLOW_PRIVATE_HOSTS
    check_target(parse_target(url), watch=watch, resolve=network.resolve, exceptions=exceptions, hop=0)


def _request(destination: Destination, *, accept: str, max_bytes: int, watch: Watch, network: Network) -> Response:
    import httpcore

    from discovery.gateway.connection import CONNECT_SECONDS, PinnedBackend, build_tls_context, dial_address

    target = destination.target
    backend = PinnedBackend(destination.addresses, watch=watch, dial=network.dial or dial_address)
    headers: dict[bytes | str, bytes | str] = {
        "Host": target.authority,
        "User-Agent": USER_AGENT,
        "Accept": accept,
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    timeouts = {"connect": CONNECT_SECONDS, "read": READ_SECONDS, "write": READ_SECONDS}
    try:
        with (
            httpcore.HTTPConnection(
                httpcore.Origin(target.scheme.encode(), target.host.encode(), target.port),
                ssl_context=(network.tls or build_tls_context()) if target.scheme == "https" else None,
                network_backend=backend,
            ) as connection,
            connection.stream(
                "GET",
                httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path),
                headers=headers,
                extensions={"timeout": timeouts},
            ) as answer,
        ):
            return _read_answer(answer, url=target.url, max_bytes=max_bytes)
    except httpcore.TimeoutException:
        raise NetworkFailure("The site took too long to answer.", code="TIMED_OUT") from None
    except httpcore.ConnectError:
        raise NetworkFailure("No connection to the site.", code="CONNECT_FAILED") from None
    except (httpcore.NetworkError, httpcore.ProtocolError):
        raise NetworkFailure("The connection was lost.", code="CONNECTION_LOST") from None


def _read_answer(answer: "httpcore.Response", *, url: str, max_bytes: int) -> Response:
    headers: dict[str, str] = {}
    for raw_name, raw_value in answer.headers:
        name, value = raw_name.decode("latin-1").lower(), _decode_header(raw_value)
        if name != "set-cookie":
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = headers.get("content-encoding", "")
    if answer.status in _REDIRECTS and headers.get("location"):
        body = b""
    elif answer.status >= 400:
        body = read_start(answer.iter_stream(), encoding=encoding, max_bytes=min(max_bytes, ERROR_BODY_BYTES))
    elif _read_length(headers) > max_bytes:
        raise TooLarge
    else:
        body = read_body(answer.iter_stream(), encoding=encoding, max_bytes=max_bytes)
    return Response(answer.status, headers, body, url, content_type)


def _read_length(headers: Mapping[str, str]) -> int:
    """What the site says it will send, 0 where it does not say."""
    stated = headers.get("content-length", "")
    return int(stated[:18]) if stated.isascii() and stated.isdigit() else 0


def _decode_header(value: bytes) -> str:
    """Sites send either; every byte string is valid Latin-1."""
    try:
        return value.decode("utf-8").strip()
    except UnicodeDecodeError:
        return value.decode("latin-1").strip()
