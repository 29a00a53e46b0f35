"""Connections to addresses that were checked, and to no others."""

import errno
import selectors
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final

import httpcore

from discovery.gateway.errors import NetworkFailure
from discovery.gateway.watch import Watch

CONNECT_SECONDS: Final = 5.0  # per address
MAX_ADDRESSES: Final = 4  # tried one after the other

Dialer = Callable[[str, int, Watch], socket.socket]
"""Opens a TCP connection to an address (never a name); raises OSError."""


@cache
def build_tls_context() -> ssl.SSLContext:
    """certifi's roots, nothing from the environment. Built once: reading the roots takes longer than a fetch."""
    return httpcore.default_ssl_context()


def dial_address(address: str, port: int, watch: Watch) -> socket.socket:
    """Connects within CONNECT_SECONDS while asking the watch."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    ends = time.monotonic() + CONNECT_SECONDS
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        started = sock.connect_ex((address, port))
        if started not in (0, errno.EINPROGRESS):
            raise OSError(started, "connect")
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_WRITE)
            while not selector.select(watch.next_wait(ends)):
                if time.monotonic() >= ends:
                    raise TimeoutError("connect")
        failure = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failure:
            raise OSError(failure, "connect")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


class PinnedBackend(httpcore.NetworkBackend):
    """Whatever host httpcore asks for, it gets one of the checked addresses."""

    def __init__(self, addresses: Sequence[str], *, watch: Watch, dial: Dialer) -> None:
        self._addresses = tuple(addresses)[:MAX_ADDRESSES]
        self._watch = watch
        self._dial = dial

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        for address in self._addresses:
            try:
                return WatchedStream(self._dial(address, port, self._watch), watch=self._watch)
            except OSError:
                continue
        raise httpcore.ConnectError("no address answers")


class WatchedStream(httpcore.NetworkStream):
    """A socket that never waits longer than a slice without asking the watch, in the TLS handshake too."""

    def __init__(self, sock: socket.socket, *, watch: Watch) -> None:
        self._sock = sock
        self._watch = watch

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        ends = time.monotonic() + (timeout or 0.0)
        while True:
            self._sock.settimeout(self._watch.next_wait(ends))
            try:
                return self._sock.recv(max_bytes)
            except TimeoutError:
                if time.monotonic() >= ends:
                    raise httpcore.ReadTimeout from None
            except OSError:
                raise httpcore.ReadError from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        ends = time.monotonic() + (timeout or 0.0)
        left = memoryview(buffer)
        while left:
            self._sock.settimeout(self._watch.next_wait(ends))
            try:
                left = left[self._sock.send(left) :]
            except TimeoutError:
                if time.monotonic() >= ends:
                    raise httpcore.WriteTimeout from None
            except OSError:
                raise httpcore.WriteError from None

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        ends = time.monotonic() + (timeout or 0.0)
        try:
            secured = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
        except (OSError, ValueError):
            self._sock.close()
            raise httpcore.ConnectError from None
        try:
            self._shake_hands(secured, ends)
        except BaseException:
            secured.close()
            raise
        return WatchedStream(secured, watch=self._watch)

    def _shake_hands(self, secured: ssl.SSLSocket, ends: float) -> None:
        while True:
            secured.settimeout(self._watch.next_wait(ends))
            try:
                return secured.do_handshake()
            except TimeoutError:
                if time.monotonic() >= ends:
                    raise httpcore.ConnectTimeout from None
            except ssl.SSLCertVerificationError:
                raise NetworkFailure("The site's certificate is not valid for its name.", code="TLS_FAILED") from None
            except OSError:
                raise httpcore.ConnectError from None

    def close(self) -> None:
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._sock, ssl.SSLSocket):
            return self._sock
        return None
