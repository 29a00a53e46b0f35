"""A real Temporal server for tests, with the product's own flags. It dies with the test process."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from operations.processes.children import build_tied_argv
from operations.processes.ports import LOOPBACK
from operations.processes.temporal_server import build_server_argv, find_temporal_binary, is_serving
from tests.processes import choose_quiet_port

START_SECONDS = 90.0
STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class TemporalServer:
    address: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def kill(self) -> None:
        """SIGKILL, as a power cut would; start another on the same file and port to go on."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


def start_temporal(db_file: Path, *, port: int | None = None, namespace: str = "default") -> TemporalServer:
    """Start a server on ``port`` (else a free one) and wait until it answers; its log lies beside ``db_file``.

    Call it from a thread that lives as long as the server is wanted: the main thread.
    """
    chosen = port or choose_quiet_port()
    address = f"{LOOPBACK}:{chosen}"
    log = db_file.with_suffix(".log")
    argv = build_server_argv(find_temporal_binary(), db_file=db_file, port=chosen, namespace=namespace)
    with log.open("ab") as output:
        process = subprocess.Popen(
            build_tied_argv(argv),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if is_serving(address):
            return TemporalServer(address=address, process=process, log=log)
        time.sleep(0.05)
    process.kill()
    process.wait()
    raise RuntimeError(f"Temporal did not start on {address}:\n{log.read_text(errors='replace')[-2000:]}")


@contextmanager
def running_temporal(db_file: Path, *, port: int | None = None, namespace: str = "default") -> Iterator[TemporalServer]:
    server = start_temporal(db_file, port=port, namespace=namespace)
    try:
        yield server
    finally:
        server.stop()
