"""A throw-away folder for one Chromium, which a later process can clear if this one is killed."""

import fcntl
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "jobctrl-render-"
LOCK = "in-use"
MAKING_SECONDS = 600.0


class ProfileFolder:
    """A locked temporary folder. The lock dies with the process, so a killed worker's folder is known as abandoned."""

    def __init__(self) -> None:
        sweep_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = (self.path / LOCK).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def sweep_abandoned() -> None:
    """Removes the folders of processes that are gone. One without its lock file may still be in the making."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if not (folder / LOCK).exists() and time.time() - folder.stat().st_mtime > MAKING_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
            with (folder / LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
