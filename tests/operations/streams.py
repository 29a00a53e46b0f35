"""Real web processes, a real writer process and plain clients of the event stream."""

import http.client
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operations.processes.ports import LOOPBACK
from tests.processes import choose_quiet_port, wait_until
from tests.template import Template
from tests.warm import get_warm

EVENTS = "/v1/events/stream"
LIVE = "/live/"
PROBE = "/test-probe"
FAST_TIMERS = {
    "JOBCTRL_STREAM_COMMENT_SECONDS": "0.4",
    "JOBCTRL_STREAM_HEARTBEAT_SECONDS": "0.9",
    "JOBCTRL_STREAM_STALL_SECONDS": "3",
}


@dataclass(frozen=True, slots=True)
class Frame:
    """One block of the stream; a comment has no event, the opening has neither event nor data."""

    event: str = ""
    id: int | None = None
    data: Any = None
    comment: str = ""
    retry: int | None = None
    at: float = 0.0


class StreamClient:
    """Listens in a thread, from the moment it is made unless told to wait for ``start()``."""

    def __init__(
        self, port: int, path: str = EVENTS, *, token: str, last_id: int | None = None, is_reading: bool = True
    ) -> None:
        headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "gzip, deflate"}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        self._connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)
        self.socket = self._connection.sock = socket.socket()
        if not is_reading:
            # Else the kernel takes up to 32 MB in the client's stead.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.socket.settimeout(30)
        self.socket.connect((LOOPBACK, port))
        self._connection.request("GET", path, headers=headers)
        self.response = self._connection.getresponse()
        self.frames: list[Frame] = []
        self.has_ended = False
        self._thread = threading.Thread(target=self._listen, daemon=True)
        if is_reading:
            self.start()

    def start(self) -> "StreamClient":
        self._thread.start()
        return self

    def _listen(self) -> None:
        lines: list[str] = []
        with suppress(OSError, ValueError, http.client.HTTPException, AttributeError):
            while line := self.response.readline():
                text = line.decode().rstrip("\n")
                if text:
                    lines.append(text)
                else:
                    self.frames.append(parse_frame(lines))
                    lines = []
        self.has_ended = True

    @property
    def events(self) -> list[Frame]:
        """What carries an id and a type: the log's events, or nudges."""
        return [frame for frame in self.frames if frame.id is not None and frame.event]

    @property
    def ids(self) -> list[int]:
        return [frame.id for frame in self.events if frame.id is not None]

    def list_named(self, name: str) -> list[Frame]:
        return [frame for frame in self.frames if frame.event == name]

    def wait(self, claim: Callable[["StreamClient"], bool], *, what: str, seconds: float = 15.0) -> None:
        wait_until(lambda: claim(self), what=what, seconds=seconds)

    def wait_for_opening(self) -> "StreamClient":
        self.wait(lambda client: bool(client.frames), what="the stream has opened")
        return self

    def close(self) -> None:
        with suppress(OSError):
            self.socket.shutdown(2)
        self.socket.close()
        self._connection.close()
        if self._thread.is_alive():
            self._thread.join(5)


def parse_frame(lines: list[str]) -> Frame:
    values: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        values[name or "comment"] = value.removeprefix(" ")
    return Frame(
        event=values.get("event", ""),
        id=int(values["id"]) if "id" in values else None,
        data=json.loads(values["data"]) if "data" in values else None,
        comment=values.get("comment", ""),
        retry=int(values["retry"]) if "retry" in values else None,
        at=time.monotonic(),
    )


class WriterProcess:
    """A process of its own that writes to the workspace on demand (``tests.operations.stream_writer``)."""

    def __init__(self, environment: dict[str, str]) -> None:
        asked, asking = os.pipe()
        answering, answered = os.pipe()
        with open(asked, "rb") as orders, open(answered, "wb") as answers:
            self._process = get_warm().start(
                *("-m", "tests.operations.stream_writer"),
                environment=environment,
                input=orders.fileno(),
                output=answers.fileno(),
                errors=2,
            )
        self._orders, self._answers = os.fdopen(asking, "w"), os.fdopen(answering)

    def ask(self, what: str, **arguments: Any) -> Any:
        self.begin(what, **arguments)
        return self.finish()

    def begin(self, what: str, **arguments: Any) -> None:
        self._orders.write(json.dumps({"what": what, **arguments}) + "\n")
        self._orders.flush()

    def finish(self) -> Any:
        answer = self._answers.readline()
        assert answer, "the writer process has ended"
        return json.loads(answer)

    def append(self, count: int = 1, **arguments: Any) -> list[int]:
        ids: list[int] = self.ask("append", count=count, **arguments)
        return ids

    def close(self) -> None:
        self._orders.close()
        self._process.wait(10)
        self._answers.close()


class WebProcess:
    """daphne over the product's application, with ``PROBE`` beside it (``tests.operations.stream_probe``)."""

    def __init__(self, environment: dict[str, str], *, log: Path) -> None:
        self.port = choose_quiet_port()
        with log.open("wb") as output:
            self.process = get_warm().start(
                *("-m", "daphne", "-p", str(self.port), "tests.operations.stream_probe:application"),
                environment=environment,
                output=output.fileno(),
                errors=output.fileno(),
            )
        self.log = log

    def wait_until_up(self) -> None:
        wait_until(self._answers, what=f"daphne answers; {self.log.read_text()[-2000:]}", seconds=40)

    def _answers(self) -> bool:
        try:
            self.probe()
        except OSError:
            return False
        return True

    def probe(self) -> dict[str, int]:
        """``queries`` so far, ``tasks``, ``threads`` and ``files`` now."""
        found: dict[str, int] = json.loads(self.get(PROBE)[1])
        return found

    def get(self, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=30)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Site:
    """A workspace with two web processes and two writer processes."""

    def __init__(self, webs: list[WebProcess], writers: list[WriterProcess], token: str) -> None:
        self.webs, self.writers, self.token = webs, writers, token
        self._clients: list[StreamClient] = []

    @property
    def web(self) -> WebProcess:
        return self.webs[0]

    @property
    def writer(self) -> WriterProcess:
        return self.writers[0]

    def connect(self, path: str = EVENTS, *, web: int = 0, **options: Any) -> StreamClient:
        client = StreamClient(self.webs[web].port, path, token=self.token, **options)
        self._clients.append(client)
        return client

    def disconnect_all(self) -> None:
        for client in self._clients:
            client.close()
        self._clients.clear()


def is_on_postgres() -> bool:
    return os.environ.get("DATABASE_URL", "").startswith("postgres")


@contextmanager
def serving_site(folder: Path, template: Template, **settings: str) -> Iterator[Site]:
    with ExitStack() as stack:
        home = folder / "home"
        home.mkdir(mode=0o700)
        environment = {
            **os.environ,
            **FAST_TIMERS,
            "JOBCTRL_HOME": str(home),
            "DATABASE_URL": stack.enter_context(template.copied(home)),
            "LOG_LEVEL": "WARNING",
            **settings,
        }
        webs = [WebProcess(environment, log=folder / f"web-{number}.log") for number in range(2)]
        for web in webs:
            stack.callback(web.close)
        writers = [WriterProcess(environment) for _ in range(2)]
        for writer in writers:
            stack.callback(writer.close)
        token = writers[0].ask("token")
        for web in webs:
            web.wait_until_up()
        yield Site(webs, writers, token)
