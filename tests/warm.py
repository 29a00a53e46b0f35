"""``manage.py`` commands without the second that each start of Python and Django takes.

A process that has imported the product forks for each command: the child is a process of its own, with the workspace's
environment, its own connections and its own end. What a test says about a *start* it runs with ``manage.py`` itself.
"""

import array
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from operations.processes.children import build_tied_argv
from operations.processes.launch import tie_to_parent

ROOT = Path(__file__).resolve().parents[1]
KILLED = -signal.SIGKILL
REQUEST_BYTES = 1 << 20


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

    def run(self, *arguments: str, seconds: float) -> "subprocess.CompletedProcess[str]":
        """Raises ``subprocess.TimeoutExpired``; the command goes on then, until ``close``."""
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output,
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            connection.settimeout(seconds)
            connection.connect(self._path)
            handles = array.array("i", [output.fileno(), errors.fileno()])
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)]
            connection.sendmsg([json.dumps(arguments).encode() + b"\n"], ancillary)
            try:
                answer = connection.recv(1)
            except TimeoutError:
                raise subprocess.TimeoutExpired(arguments, seconds) from None
            output.seek(0)
            errors.seek(0)
            code = answer[0] if answer else KILLED
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
    import temporalio.client  # noqa: F401

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
    """In the child; never returns. The last byte that it sends is the exit code."""
    request, handles, _, _ = socket.recv_fds(connection, REQUEST_BYTES, 2)
    for handle, standard in zip(handles, (1, 2), strict=True):
        os.dup2(handle, standard)
        os.close(handle)
    while not request.endswith(b"\n"):
        request += connection.recv(REQUEST_BYTES)
    sys.argv = [str(ROOT / "manage.py"), *json.loads(request)]
    code = 1
    try:
        code = run_main()
    finally:
        from django.db import connections

        connections.close_all()
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(bytes([code & 0xFF]))
        os._exit(code & 0xFF)


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
