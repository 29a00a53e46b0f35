"""One supervisor per workspace."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK_NAME = "up.lock"


class AlreadyRunning(RuntimeError):
    """Another ``up`` runs this workspace."""


@contextmanager
def hold_workspace(root: Path) -> Iterator[None]:
    """Hold ``up.lock`` in the workspace; the kernel lets go of it however this process ends.

    Raises:
        AlreadyRunning: naming the process that holds it.
    """
    descriptor = os.open(root / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise AlreadyRunning(
                f"jobctrl is already running on {root} (pid {holder}). Stop that one first, or set JOBCTRL_HOME "
                "to another folder."
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)
