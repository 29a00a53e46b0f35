"""Copying files whole, and SQLite databases that are in use."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from operations.errors import OperationsError

PAGES_A_STEP = 2_000
CHUNK = 1_000_000
SIDECARS = ("-wal", "-shm", "-journal")

#: Told (done, of how many) now and then.
Progress = Callable[[int, int], None]


class CopyFailed(OperationsError):
    """A file could not be copied."""


def make_folder(folder: Path) -> None:
    """Private to the user, as is each folder above it that has to be made."""
    if not folder.parent.is_dir():
        make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def copy_sqlite(source: Path, target: Path, *, progress: Progress) -> None:
    """One moment of a database that others may be writing to, its WAL included; the copy is checked.

    Raises:
        CopyFailed: the source cannot be read, or its copy is not sound.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with (
            closing(sqlite3.connect(f"{source.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=20)) as live,
            closing(sqlite3.connect(target)) as copy,
        ):
            # A copy in steps starts again whenever somebody wrote; within a read transaction it keeps its moment.
            live.execute("BEGIN")
            live.execute("SELECT count(*) FROM sqlite_master").fetchone()
            live.backup(copy, pages=PAGES_A_STEP, progress=lambda _, left, total: progress(total - left, total))
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise CopyFailed(f"{source.name} could not be copied ({error}).") from None
    if verdict != "ok":
        raise CopyFailed(f"{source.name} is damaged ({verdict[:100]}). Restore an earlier backup.")
    for suffix in SIDECARS:
        target.with_name(target.name + suffix).unlink(missing_ok=True)


def copy_file(source: Path, target: Path) -> tuple[str, int]:
    """Copies to a new private file; returns its SHA-256 and its bytes. Raises ``OSError``."""
    make_folder(target.parent)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    digest, size = hashlib.sha256(), 0
    with os.fdopen(descriptor, "wb") as output, source.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            output.write(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def hash_file(path: Path) -> tuple[str, int]:
    """SHA-256 and bytes. Raises ``OSError``."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
        return digest.hexdigest(), stream.tell()


def measure_sqlite(path: Path) -> int:
    """Bytes that a copy may take: the file and what its WAL will add to it."""
    return sum(part.stat().st_size for part in list_parts(path))


def list_parts(path: Path) -> list[Path]:
    """A SQLite database and the files beside it that belong to it, those that exist."""
    return [part for part in (path, *(path.with_name(path.name + suffix) for suffix in SIDECARS)) if part.exists()]


def is_in_use(path: Path) -> bool:
    """Whether another process has this database open. The caller's own connections must be closed before."""
    if not path.exists():
        return False
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=1)) as probe:
        try:
            # In WAL mode every open connection holds a shared lock, which only this notices.
            probe.execute("PRAGMA locking_mode=EXCLUSIVE")
            probe.execute("BEGIN EXCLUSIVE")
            probe.execute("ROLLBACK")
        except sqlite3.DatabaseError as error:
            # A file that is no database is nobody's, and may be replaced.
            return isinstance(error, sqlite3.OperationalError)
    return False


def find_lacking_room(folder: Path, *, needed: int, spare: int) -> int:
    """Bytes that must be freed on the disk of ``folder`` before ``needed`` fit, with ``spare`` left over; 0 = none."""
    return max(0, needed + spare - shutil.disk_usage(folder).free)


def flush_to_disk(folders: Sequence[Path]) -> None:
    """What was written is on the disk on return, the folders' entries included."""
    os.sync()
    for folder in folders:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
