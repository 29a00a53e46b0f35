"""Python processes of the product without the second or two that each start and its imports take.

One process that has imported the product forks for all others: the child is a process of its own, with the environment
it is given, its own settings, connections and end. What Python takes from the environment as it starts (hashes, warnings,
buffers) is the parent's. What a test says about a *start* it runs with ``manage.py`` itself.

A request is a line of JSON with three descriptors, for standard input, output and errors. The answer is the child's
pid, and one byte more once it has ended: its exit code; none where it was killed.
"""

import array
import atexit
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from operations.processes.launch import tie_to_parent

ROOT = Path(__file__).resolve().parents[1]
KILLED = -signal.SIGKILL
REQUEST_BYTES = 1 << 20
BEGIN_SECONDS = 60.0
HEARTBEAT = "JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS"
PID = struct.Struct("!i")
#: What the product takes from the environment as it is imported, and where the settings find no home of anybody's.
IMPORTED_WITH = {
    "DJANGO_SETTINGS_MODULE": "jobctrl.settings",
    HEARTBEAT: "5",
    "PYTHONUNBUFFERED": "1",
    "SECRET_KEY": "of-a-test",
    "OPENBLAS_NUM_THREADS": "1",  # numpy's threads would not be carried over a fork
}
#: What a worker imports as it begins and with its first jobs.
WORKED_WITH = (
    *("operations.management.commands.runworker", "operations.worker.runtime", "discovery.gateway", "scoring.builtin"),
    *("bm25s", "materials.rendering.documents", "materials.rendering.browser", "playwright.sync_api", "pypdf"),
)

_first = threading.Lock()
_servers: "list[WarmServer]" = []


def get_warm() -> "WarmServer":
    """The one of this process; it is made when it is first needed."""
    with _first:
        if not _servers:
            _servers.append(WarmServer())
            atexit.register(_servers[0].close)
        return _servers[0]


class WarmProcess:
    """A process on its way, to be used like a ``subprocess.Popen``, by one thread at a time. It has read its request
    and has its own session, if it was to have one. Ended by whatever signal, its code is ``KILLED``."""

    def __init__(self, connection: socket.socket, arguments: tuple[str, ...]) -> None:
        self.arguments = arguments
        self.returncode: int | None = None
        self._connection = connection
        connection.settimeout(BEGIN_SECONDS)
        begun = connection.recv(PID.size)
        connection.settimeout(None)  # with a limit, a read that is not to wait does
        if not begun:
            raise ChildProcessError(f"it ended before it began, or what forks for it is gone: {' '.join(arguments)}")
        (self.pid,) = PID.unpack(begun)
        try:
            self._handle: int | None = os.pidfd_open(self.pid)
        except ProcessLookupError:  # it has ended already, and its parent wants no zombies
            self._handle = None

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Raises ``subprocess.TimeoutExpired``; it goes on then."""
        if self.returncode is None:
            if self._handle is not None:
                ended = select.poll()
                ended.register(self._handle, select.POLLIN)
                if not ended.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired(self.arguments, timeout or 0)
            self.returncode = self._read_code()
            self._connection.close()
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None
        return self.returncode

    def _read_code(self) -> int:
        """It was sent before the end; who waited for it might wait for a child of the process instead."""
        try:
            answer = self._connection.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return KILLED
        return answer[0] if answer else KILLED

    def send_signal(self, number: int) -> None:
        if self._handle is not None and self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class WarmServer:
    """The client's side, of one thread or several: each process has a connection of its own. The server, and every
    process that still runs, is killed when this process ends."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="warm-")
        self._path = str(Path(self._folder.name) / "requests")
        home = {"JOBCTRL_HOME": str(Path(self._folder.name) / "home")}
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._path)
            listener.listen(32)
            self._server = subprocess.Popen(
                [sys.executable, "-m", "tests.warm", str(listener.fileno()), self._folder.name],
                stdin=subprocess.PIPE,
                cwd=ROOT,
                env={**os.environ, **IMPORTED_WITH, **home},
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._server.pid

    def start(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        output: int,
        errors: int,
        input: int | None = None,
        own_session: bool = False,
    ) -> WarmProcess:
        """``python`` with these arguments: ``manage.py COMMAND``, ``-m MODULE`` or ``-c PROGRAM``, in the project's
        folder. ``input``, ``output`` and ``errors`` are descriptors."""
        imported = IMPORTED_WITH[HEARTBEAT]
        if environment.get(HEARTBEAT, imported) != imported:
            raise ValueError(f"{HEARTBEAT} is read as the product is imported: only {imported} can be had here")
        own = {HEARTBEAT: imported, **environment}
        request = {"arguments": arguments, "environment": own, "own_session": own_session}
        line = json.dumps(request).encode() + b"\n"
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self._path)
            with open(os.devnull, "rb") as nothing:
                handles = array.array("i", [nothing.fileno() if input is None else input, output, errors])
                sent = connection.sendmsg([line], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
            connection.sendall(line[sent:])
            return WarmProcess(connection, arguments)
        except BaseException:
            connection.close()
            raise

    def run(
        self, *arguments: str, environment: Mapping[str, str], seconds: float
    ) -> "subprocess.CompletedProcess[str]":
        """Raises ``subprocess.TimeoutExpired``, and kills it then."""
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output,
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        ):
            process = self.start(*arguments, environment=environment, output=output.fileno(), errors=errors.fileno())
            try:
                code = process.wait(seconds)
            except BaseException:
                process.kill()
                process.wait()
                raise
            output.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())

    def close(self) -> None:
        """Its whole session with it: what the processes started themselves, too."""
        with suppress(ProcessLookupError):
            os.killpg(self._server.pid, signal.SIGKILL)
        self._server.communicate()
        self._folder.cleanup()


def serve(listener: socket.socket, folder: str) -> None:
    """Until whoever started it has ended."""
    for standard in (1, 2):
        try:
            os.fstat(standard)
        except OSError:  # closed: the next that is opened would be taken for it
            os.open(os.devnull, os.O_WRONLY)
    import django

    django.setup()
    from django.urls import get_resolver

    for module in WORKED_WITH:
        importlib.import_module(module)
    get_resolver().url_patterns  # noqa: B018 - reading it imports the pages' modules
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children here
    gc.collect()
    gc.freeze()
    server = os.getpid()
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    waiting.register(sys.stdin, select.POLLHUP)
    while all(at == listener.fileno() for at, _ in waiting.poll()):
        connection, _ = listener.accept()
        if os.fork() == 0:
            tie_to_parent(server)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            run_request(connection)
        connection.close()
    shutil.rmtree(folder, ignore_errors=True)


def run_request(connection: socket.socket) -> None:
    """In the child; never returns."""
    line, handles, _, _ = socket.recv_fds(connection, REQUEST_BYTES, 3)
    for standard, handle in enumerate(handles):
        os.dup2(handle, standard)
        os.close(handle)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    while not line.endswith(b"\n"):
        more = connection.recv(REQUEST_BYTES)
        if not more:  # whoever asked has given up
            os._exit(1)
        line += more
    request = json.loads(line)
    if request["own_session"]:
        os.setsid()
    connection.sendall(PID.pack(os.getpid()))
    code = 1
    try:
        code = run_python(request["arguments"], request["environment"])
        end_as_python_does()
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            from django.db import connections

            connections.close_all()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        connection.sendall(bytes([code & 0xFF]))
        os._exit(code & 0xFF)


def take_environment(environment: dict[str, str]) -> None:
    """The settings and what Django made of them; of the product nothing but the heartbeat remembers one from its
    import."""
    from django.conf import settings
    from django.db import connections
    from django.utils.log import configure_logging

    import jobctrl.settings

    os.environ.clear()
    os.environ.update(environment)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", IMPORTED_WITH["DJANGO_SETTINGS_MODULE"])
    importlib.reload(jobctrl.settings)
    settings._setup()
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
    vars(connections).clear()
    connections.__init__()  # type: ignore[misc]


def run_python(arguments: list[str], environment: dict[str, str]) -> int:
    """The exit code that Python gives for what the program raises; 1 for an interrupt, too."""
    from jobctrl.home import HomeUnusable

    what, *rest = arguments
    try:
        take_environment(environment)
        if what == "-m":
            sys.argv = rest
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        elif what == "-c":
            sys.argv = [what, *rest[1:]]
            exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
        else:
            from manage import main

            sys.argv = [str(ROOT / what), *rest]
            main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except HomeUnusable as error:  # the settings read the secret key from the home
        print(f"CommandError: {error}", file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end_as_python_does() -> None:
    """A thread that does not end keeps its process, and what was to be done at the end is done."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
