"""A real worker process on this benchmark's database, and the Temporal server it needs."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connections

from operations.processes.children import build_tied_argv
from operations.queries import find_fresh_worker
from tests.run import ROOT
from tests.temporal import running_temporal

WAIT_SECONDS = 60.0
POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class RunningWorker:
    """``boot_seconds`` from the start of the process to its first heartbeat, with which it accepts work."""

    process: subprocess.Popen[bytes]
    boot_seconds: float

    def read_memory(self) -> float:
        """Megabytes resident now, without children."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024


@contextmanager
def serving_temporal() -> Iterator[str]:
    """A server whose address this process's own client uses too."""
    with (
        tempfile.TemporaryDirectory(prefix="jobctrl-bench-temporal-") as folder,
        running_temporal(Path(folder) / "temporal.db") as server,
    ):
        settings.TEMPORAL_ADDRESS = server.address
        yield server.address


@contextmanager
def running_worker(address: str) -> Iterator[RunningWorker]:
    environment = {**os.environ, "TEMPORAL_ADDRESS": address}
    started = time.perf_counter()
    with spawn([sys.executable, "manage.py", "runworker"], environment) as process:
        wait_for(lambda: find_fresh_worker() is not None, process)
        yield RunningWorker(process, time.perf_counter() - started)
    connections.close_all()


@contextmanager
def spawn(argv: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is told to stop at the end, and dies with this one; its words are shown where it fails."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            build_tied_argv(argv), cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            yield process
        except BaseException:
            output.seek(0)
            sys.stderr.write(output.read().decode(errors="replace")[-3000:])
            raise
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(
    claim: Callable[[], bool],
    process: subprocess.Popen[bytes],
    *,
    seconds: float = WAIT_SECONDS,
    poll_seconds: float = POLL_SECONDS,
) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        if time.monotonic() > deadline:
            raise TimeoutError(f"not ready within {seconds:g} s")
        time.sleep(poll_seconds)
