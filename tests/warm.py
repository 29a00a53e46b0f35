"""``manage.py`` commands without the second that each start of Python and Django takes.

A process that has imported the product forks for each command: the child is a process of its own, with the workspace's
environment, its own connections and its own end. What a test says about a *start* it runs with ``manage.py`` itself.

A request is a line of JSON with two descriptors for what the command prints. The answer is the child's pid, and one
byte more once it has ended: its exit code; none where it was killed.
"""

import array
import atexit
import gc
import json
import os
import select
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

from operations.processes.children import build_tied_argv
from operations.processes.launch import tie_to_parent

ROOT = Path(__file__).resolve().parents[1]
KILLED = -signal.SIGKILL
REQUEST_BYTES = 1 << 20
PID = struct.Struct("!i")


class WarmProcess:
    """A command on its way, to be used like a ``subprocess.Popen``. It has read its request and has its own session,
    if it was to have one. Ended by whatever signal, its code is ``KILLED``."""

    def __init__(self, connection: socket.socket, arguments: tuple[str, ...]) -> None:
        self.arguments = arguments
        self.returncode: int | None = None
        self._connection = connection
        begun = connection.recv(PID.size, socket.MSG_WAITALL)
        if not begun:
            raise ChildProcessError(f"the process that forks for commands is gone: {' '.join(arguments)}")
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
        """Raises ``subprocess.TimeoutExpired``; the command goes on then."""
        if self.returncode is None:
            if self._handle is not None:
                ended = select.poll()
                ended.register(self._handle, select.POLLIN)
                if not ended.poll(None if timeout is None else timeout * 1000):
                    raise subprocess.TimeoutExpired(self.arguments, timeout or 0)
            self.returncode = self._read_code()
            self.close()
        return self.returncode

    def _read_code(self) -> int:
        """It was sent before the end; who waited for it might wait for a child of the command instead."""
        try:
            answer = self._connection.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return KILLED
        return answer[0] if answer else KILLED

    def send_signal(self, number: int) -> None:
        if self._handle is not None and self.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """Forget it, whether it has ended or not."""
        self._connection.close()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class WarmCommands:
    """The client's side, of one thread or several: each command has a connection of its own. The thread that makes it
    outlives it: the server, and every command that still runs, is killed when that thread ends."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)
        self._folder = tempfile.TemporaryDirectory(prefix="warm-")
        self._path = str(Path(self._folder.name) / "commands")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._path)
            listener.listen(32)
            self._server = subprocess.Popen(
                build_tied_argv([sys.executable, "-m", "tests.warm", str(listener.fileno())]),
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                env=self.environment,
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )

    def start(self, *arguments: str, output: int, errors: int, own_session: bool = False) -> WarmProcess:
        """``output`` and ``errors`` are descriptors. Without a session of its own it ends with ``close``."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._path)
        handles = array.array("i", [output, errors])
        request = json.dumps({"arguments": arguments, "own_session": own_session}).encode() + b"\n"
        connection.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
        return WarmProcess(connection, arguments)

    def run(self, *arguments: str, seconds: float) -> "subprocess.CompletedProcess[str]":
        """Raises ``subprocess.TimeoutExpired``; the command goes on then, until ``close``."""
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output,
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        ):
            process = self.start(*arguments, output=output.fileno(), errors=errors.fileno())
            try:
                code = process.wait(seconds)
            finally:
                process.close()
            output.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._server.pid, signal.SIGKILL)
        self._server.wait()
        self._folder.cleanup()


def serve(listener: socket.socket) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jobctrl.settings")
    import django

    django.setup()
    import operations.management.commands.runworker  # noqa: F401 # what most processes of the tests run

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children here
    gc.freeze()
    server = os.getpid()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            tie_to_parent(server)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            run_command(connection)
        connection.close()


def run_command(connection: socket.socket) -> None:
    """In the child; never returns."""
    line, handles, _, _ = socket.recv_fds(connection, REQUEST_BYTES, 2)
    for handle, standard in zip(handles, (1, 2), strict=True):
        os.dup2(handle, standard)
        os.close(handle)
    while not line.endswith(b"\n"):
        line += connection.recv(REQUEST_BYTES)
    request = json.loads(line)
    if request["own_session"]:
        os.setsid()
    connection.sendall(PID.pack(os.getpid()))
    sys.argv = [str(ROOT / "manage.py"), *request["arguments"]]
    code = 1
    try:
        code = run_main()
        end_as_python_does()
    finally:
        from django.db import connections

        connections.close_all()
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(bytes([code & 0xFF]))
        os._exit(code & 0xFF)


def end_as_python_does() -> None:
    """A thread that does not end keeps its process, and what was to be done at the end is done."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()


def run_main() -> int:
    """The exit code that Python gives for what ``main`` raises."""
    from manage import main

    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
