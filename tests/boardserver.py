"""A board on loopback whose answers a test chooses, and may change while it runs."""

import gzip
import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import randrange
from types import TracebackType
from typing import Any, Final, Self

BIG_BODY_BYTES: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. ``hang_seconds`` pass before anything is sent; a ``dribble_seconds`` lies between two bytes."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    hang_seconds: float = 0.0
    dribble_seconds: float = 0.0
    announced_length: int | None = None  # a Content-Length other than the true one


@dataclass(frozen=True, slots=True)
class SeenRequest:
    method: str
    path: str  # with the query
    headers: dict[str, str]  # names in lower case
    at: float  # time.monotonic()


def reply_json(payload: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(payload).encode(), headers=headers or {})


def reply_html(html: str, *, status: int = 200) -> Reply:
    return Reply(status, html.encode(), "text/html; charset=utf-8")


def reply_status(status: int, *, retry_after: str = "") -> Reply:
    return Reply(status, b"{}", headers={"Retry-After": retry_after} if retry_after else {})


def reply_redirect(location: str, *, status: int = 302) -> Reply:
    return Reply(status, headers={"Location": location})


def reply_truncated(payload: object) -> Reply:
    """JSON that stops in the middle, with a Content-Length to match, as a proxy that gave up sends it."""
    body = json.dumps(payload).encode()
    return Reply(body=body[: len(body) // 2])


def reply_cut_off(payload: object) -> Reply:
    """JSON whose connection closes before the announced end."""
    body = json.dumps(payload).encode()
    return Reply(body=body[: len(body) // 2], announced_length=len(body))


def reply_big(size: int = BIG_BODY_BYTES) -> Reply:
    return Reply(body=b'"' + b"x" * (size - 2) + b'"')


def reply_hang(seconds: float) -> Reply:
    return Reply(body=b"{}", hang_seconds=seconds)


def reply_dribble(reply: Reply, *, seconds: float) -> Reply:
    return replace(reply, dribble_seconds=seconds)


def reply_gzip(body: bytes, *, content_type: str = "application/json") -> Reply:
    return Reply(body=gzip.compress(body), content_type=content_type, headers={"Content-Encoding": "gzip"})


def _open_server() -> "_Server":
    """On a port that no kernel gives out by itself: a client of another test's server, gone since, would knock here."""
    for _ in range(100):
        with suppress(OSError):
            return _Server(("127.0.0.1", randrange(20_000, 30_000)), _Handler)
    raise RuntimeError("no port from 20000 to 30000 is free")


class BoardServer:
    """A threaded HTTP server on 127.0.0.1; unknown paths answer 404. Safe to change from any thread."""

    def __init__(self) -> None:
        self.requests: list[SeenRequest] = []
        self.connections = 0
        self._routes: dict[str, list[Reply]] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _open_server()
        self._server.board = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, name="boardserver", daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def host_port(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host_port}"

    def set_route(self, path: str, *replies: Reply) -> str:
        """The replies are given in turn and the last one from then on. Returns the full URL of the path.

        A path with a query answers only that query, one without answers any.
        """
        if not replies:
            raise ValueError("a route needs a reply")
        with self._lock:
            self._routes[path] = list(replies)
        return self.url + path

    def fail_first(self, path: str, count: int, *, failure: Reply, success: Reply) -> str:
        """``failure`` for the first ``count`` requests, then ``success``."""
        return self.set_route(path, *[failure] * count, success)

    def count_requests(self, path: str) -> int:
        """How often the path was asked for, whatever the query."""
        with self._lock:
            return sum(request.path.partition("?")[0] == path for request in self.requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def take_reply(self, request: SeenRequest) -> Reply:
        with self._lock:
            self.requests.append(request)
            replies = self._routes.get(request.path) or self._routes.get(request.path.partition("?")[0])
            if not replies:
                return Reply(404, b'{"error":"not found"}')
            return replies.pop(0) if len(replies) > 1 else replies[0]

    def count_connection(self) -> None:
        with self._lock:
            self.connections += 1

    def sleep(self, seconds: float) -> bool:
        """Whether the server is closing."""
        return self._closing.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    board: BoardServer

    def process_request(self, request: Any, client_address: Any) -> None:
        self.board.count_connection()
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        board = self.server.board
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = board.take_reply(SeenRequest(self.command, self.path, headers, time.monotonic()))
        if reply.hang_seconds and board.sleep(reply.hang_seconds):
            return
        self.send_response(reply.status)
        length = len(reply.body) if reply.announced_length is None else reply.announced_length
        for name, value in {"Content-Type": reply.content_type, "Content-Length": str(length), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if reply.announced_length is not None:
            self.close_connection = True
        if not reply.dribble_seconds:
            self.wfile.write(reply.body)
            return
        for position in range(len(reply.body)):
            self.wfile.write(reply.body[position : position + 1])
            if board.sleep(reply.dribble_seconds):
                return

    do_HEAD = do_GET
    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the requests are in ``BoardServer.requests``."""
