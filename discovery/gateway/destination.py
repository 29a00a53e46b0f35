"""From a URL to addresses that were checked and may be connected to."""

import queue
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from discovery.gateway.addresses import is_public_address
from discovery.gateway.errors import NetworkFailure, UnsafeCause, UnsafeDestination
from discovery.gateway.watch import Watch

URL_LIMIT: Final = 4096
DNS_SECONDS: Final = 10.0
PUBLIC_PORTS: Final = frozenset({80, 443, 8080, 8443})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\\]")
_HOST_NAME: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")

Resolver = Callable[[str, int], Sequence[str]]
"""Every address of a host name; raises OSError where there is none."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart once, so that the check and the connection cannot read it differently."""

    scheme: str
    host: str  # lower case, IDNA, without brackets and final dot
    port: int
    path: str  # path and query, percent-encoded

    @property
    def authority(self) -> str:
        """The Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def exception_key(self) -> str:
        """As an operator writes it in JOBCTRL_ALLOW_PRIVATE_HOSTS: host and port, always both."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Destination:
    """A target with the addresses that were checked for it. ``exempt``: the operator's exception let it pass."""

    target: Target
    addresses: tuple[str, ...]
    exempt: bool


def parse_target(url: str, *, hop: int = 0) -> Target:
    """Raises UnsafeDestination for anything but a plain http or https URL without user information."""
    url = url.strip(" ")
    if len(url) > URL_LIMIT or _CONTROL.search(url):
        raise UnsafeDestination(UnsafeCause.HOST, hop=hop)
    try:
        parts = urlsplit(url)
        scheme, name = parts.scheme.lower(), parts.hostname or ""
    except ValueError:
        raise UnsafeDestination(UnsafeCause.HOST, hop=hop) from None
    if scheme not in _DEFAULT_PORTS:
        raise UnsafeDestination(UnsafeCause.SCHEME, hop=hop)
    if "@" in parts.netloc:
        raise UnsafeDestination(UnsafeCause.USERINFO, hop=hop)
    host = _normalise_host(name, hop=hop)
    try:
        port = parts.port if parts.port is not None else _DEFAULT_PORTS[scheme]
    except ValueError:
        raise UnsafeDestination(UnsafeCause.PORT, host=host, hop=hop) from None
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    return Target(scheme, host, port, f"{path}?{query}" if query else path)


def follow_redirect(target: Target, location: str, *, hop: int) -> Target:
    """Raises UnsafeDestination also where the redirect gives up encryption."""
    try:
        joined = urljoin(target.url, location)
    except ValueError:
        raise UnsafeDestination(UnsafeCause.HOST, hop=hop) from None
    following = parse_target(joined, hop=hop)
    if target.scheme == "https" and following.scheme == "http":
        raise UnsafeDestination(UnsafeCause.REDIRECT_DOWNGRADE, host=following.host, hop=hop)
    return following


def check_target(
    target: Target, *, watch: Watch, resolve: Resolver, exceptions: Sequence[str], hop: int
) -> Destination:
    """Resolves once; every answer must be public, else UnsafeDestination. NetworkFailure where nothing resolves."""
    exempt = target.exception_key in {entry.strip().lower() for entry in exceptions}
    literal = _read_literal(target.host)
    if not exempt:
        if target.port not in PUBLIC_PORTS:
            raise UnsafeDestination(UnsafeCause.PORT, host=target.host, hop=hop)
        if _is_local_name(target.host) or (literal and not is_public_address(literal)):
            cause = UnsafeCause.REDIRECT_NON_PUBLIC if hop else UnsafeCause.PRIVATE_LITERAL
            raise UnsafeDestination(cause, host=target.host, hop=hop)
    addresses = (literal,) if literal else _resolve_in_time(target, watch=watch, resolve=resolve)
    if not exempt and not all(is_public_address(address) for address in addresses):
        cause = UnsafeCause.REDIRECT_NON_PUBLIC if hop else UnsafeCause.DNS_NON_PUBLIC
        raise UnsafeDestination(cause, host=target.host, hop=hop)
    return Destination(target, addresses, exempt)


def _is_local_name(host: str) -> bool:
    """Names that never become public (RFC 6761), whatever a resolver says."""
    return host == "localhost" or host.endswith(".localhost")


def resolve_host(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _normalise_host(name: str, *, hop: int) -> str:
    if ":" in name:
        try:
            return IPv6Address(name).compressed if "%" not in name else _refuse_host(hop)
        except ValueError:
            return _refuse_host(hop)
    try:
        host = name.removesuffix(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        return _refuse_host(hop)
    return host if _HOST_NAME.fullmatch(host) else _refuse_host(hop)


def _refuse_host(hop: int) -> str:
    raise UnsafeDestination(UnsafeCause.HOST, hop=hop)


def _read_literal(host: str) -> str:
    """The address that a host spells out, also in the old forms (127.1, 0x7f000001, 2130706433), else ""."""
    try:
        return str(ip_address(host))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return ""


def _resolve_in_time(target: Target, *, watch: Watch, resolve: Resolver) -> tuple[str, ...]:
    """The system's resolver cannot be interrupted, so it gets a thread of its own that may be left behind."""
    answers: queue.SimpleQueue[Sequence[str] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(resolve(target.host, target.port))
        except OSError as failure:
            answers.put(failure)
        except UnicodeError:
            answers.put(OSError("host name"))

    threading.Thread(target=look_up, name="gateway-dns", daemon=True).start()
    ends = time.monotonic() + DNS_SECONDS
    while time.monotonic() < ends:
        try:
            answer = answers.get(timeout=watch.next_wait(ends))
        except queue.Empty:
            continue
        if isinstance(answer, OSError) or not answer:
            break
        return tuple(answer)
    raise NetworkFailure("The site's name could not be resolved.", code="DNS_FAILED", host=target.host)
