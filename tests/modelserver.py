"""The providers of models on loopback, as OpenAI, Anthropic and Google speak; a test says what they answer."""

import json
import os
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import randrange
from types import TracebackType
from typing import Any, Final, Self

from tests.modelwires import JSON, Answer, Refused, write_answer, write_refusal

RESET: Final = struct.pack("ii", 1, 0)  # close by a reset instead of in good order


@dataclass(frozen=True, slots=True)
class Broken:
    """No whole answer: ``hang_seconds`` pass, then a ``share`` of the answer comes, then the connection is reset."""

    hang_seconds: float = 0.0
    share: float = 0.0
    answer: Answer = field(default_factory=lambda: Answer({"score": 7}))


@dataclass(frozen=True, slots=True)
class Raw:
    """A body that none of the providers should send."""

    body: bytes
    content_type: str = JSON
    status: int = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. ``streamed`` is what it asked for."""

    provider: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: dict[str, Any]
    streamed: bool


Step = Answer | Refused | Broken | Raw


class ModelServer:
    """A threaded HTTP server on 127.0.0.1. Each request takes the next step of the script, then ``usual``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.clear()
        self._server = _open_server()
        self._server.models = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, name="modelserver", daemon=True
        )

    def clear(self) -> None:
        with self._lock:
            self.requests: list[Asked] = []
            self._script: list[Step] = []
            self.usual: Step | Callable[[Asked], Step] | None = None
            self.after: Callable[[Asked], None] = lambda _: None
            self.before: Callable[[Asked], None] = lambda _: None

    def script(self, *steps: Step) -> None:
        with self._lock:
            self._script = list(steps)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_urls(self) -> dict[str, str]:
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "ANTHROPIC_BASE_URL": self.url,
            "GOOGLE_BASE_URL": self.url,
        }

    def take_step(self, asked: Asked) -> Step:
        with self._lock:
            self.requests.append(asked)
            if self._script:
                return self._script.pop(0)
            usual = self.usual
        if usual is None:
            return Refused(418, "the test expects no such request")
        return usual(asked) if callable(usual) else usual

    def sleep(self, seconds: float) -> None:
        self._closing.wait(seconds)

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


def _open_server() -> "_Server":
    """On a port that no kernel gives out by itself: a client of another test's server, gone since, would knock here."""
    for _ in range(100):
        with suppress(OSError):
            return _Server(("127.0.0.1", randrange(20_000, 30_000)), _Handler)
    raise RuntimeError("no port from 20000 to 30000 is free")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    models: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        models = self.server.models
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        provider = _name_provider(self.path)
        streamed = bool(body.get("stream")) or "streamGenerateContent" in self.path
        asked = Asked(provider, self.path, headers, body, streamed)
        step = models.take_step(asked)
        models.before(asked)
        match step:
            case Answer():
                self._send(*write_answer(provider, step, streamed=streamed))
            case Refused():
                self._send(write_refusal(provider, step), JSON, status=step.status, retry_after=step.retry_after)
            case Raw():
                self._send(step.body, step.content_type, status=step.status)
            case Broken():
                models.sleep(step.hang_seconds)
                if step.share:
                    self._send(*write_answer(provider, step.answer, streamed=streamed), share=step.share)
                self._reset()
        models.after(asked)

    def _send(
        self, body: bytes, content_type: str, *, status: int = 200, retry_after: str = "", share: float = 1.0
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(body[: int(len(body) * share)])
        self.wfile.flush()

    def _reset(self) -> None:
        self.server.models.sleep(0.05)  # what was sent before is read first
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.close_connection = True
        os.close(self.connection.detach())

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the requests are in ``ModelServer.requests``."""


def _name_provider(path: str) -> str:
    if "enerateContent" in path:
        return "google"
    return "anthropic" if path.startswith("/v1/messages") else "openai"
