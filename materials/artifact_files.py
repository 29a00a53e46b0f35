"""Content-addressed files: the name is the content's SHA-256, so a file is never changed, only written or removed."""

import errno
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256 as hash_bytes
from pathlib import Path

from jobctrl.home import NO_SPACE

TEMPORARY = ".writing-"
LEAVING = ".leaving-"
BATCH = 500
NAME = re.compile(r"([0-9a-f]{64})(\.[a-z0-9]{1,8})")
NO_ACCESS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENOENT})


class ArtifactError(Exception):
    """An artifact file could not be written or read."""


class ArtifactWriteFailed(ArtifactError):
    """The file was not written; nothing of it is left. The message names the remedy."""


class ArtifactMissing(ArtifactError):
    """The file is not there or cannot be read."""


class ArtifactCorrupt(ArtifactError):
    """The file's content is no longer what its name says."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """``size`` in bytes; ``relative_path`` under the root."""

    sha256: str
    size: int
    relative_path: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    removed: int
    kept: int


class ArtifactFiles:
    """Files under ``root``, private to the user (0600 in 0700 folders). Safe between processes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, data: bytes, *, suffix: str = ".pdf") -> StoredFile:
        """Durable on return, and whole or absent after a crash. Raises ``ArtifactWriteFailed``."""
        digest = hash_bytes(data).hexdigest()
        path = self._locate(digest, suffix=suffix)
        try:
            if not _renew(path, data=data):
                _make_folders(path.parent, root=self._root)
                _write_whole(path, data=data)
        except OSError as error:
            raise ArtifactWriteFailed(_explain(error, root=self._root)) from error
        return StoredFile(digest, len(data), path.relative_to(self._root).as_posix())

    def read(self, sha256: str, *, suffix: str = ".pdf") -> bytes:
        """Raises ``ArtifactMissing``, or ``ArtifactCorrupt`` if the content has another hash."""
        path = self._locate(sha256, suffix=suffix)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ArtifactMissing(f"The file of {sha256} cannot be read: {error.strerror}.") from error
        if hash_bytes(data).hexdigest() != sha256:
            raise ArtifactCorrupt(f"The file of {sha256} was changed on disk. Render the document again.")
        return data

    def sweep(self, known: Callable[[Iterable[str]], set[str]], *, older_than_seconds: float) -> SweepReport:
        """Removes what no record names. ``known`` returns those of the given hashes that are registered.

        Anything younger stays, since its writer may be about to register it. Foreign files are left alone.
        """
        limit = time.time() - older_than_seconds
        removed = kept = 0
        for batch in _list_batches(self._root):
            old = [path for path in batch if _is_older(path, limit=limit)]
            hashes = {path: match[1] for path in old if (match := NAME.fullmatch(path.name))}
            registered = known(sorted(set(hashes.values()))) if hashes else set()
            doomed = [path for path in old if hashes.get(path) not in registered]
            gone = sum(_remove(path, limit=limit) for path in doomed)
            removed += gone
            kept += len(batch) - gone
        return SweepReport(removed=removed, kept=kept)

    def _locate(self, sha256: str, *, suffix: str) -> Path:
        if not NAME.fullmatch(sha256 + suffix):
            raise ValueError("An artifact is named by 64 hexadecimal digits and a suffix such as .pdf")
        return self._root / sha256[:2] / sha256[2:4] / (sha256 + suffix)


def _renew(path: Path, *, data: bytes) -> bool:
    """Whether the same content is stored already. Its age starts anew, so that a sweep running now spares it."""
    try:
        os.utime(path)
        return path.read_bytes() == data
    except FileNotFoundError:
        return False


def _make_folders(folder: Path, *, root: Path) -> None:
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for level in (folder.parent, folder):
        if not level.is_dir():
            level.mkdir(mode=0o700, exist_ok=True)
            _flush_folder(level.parent)


def _write_whole(path: Path, *, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _list_batches(root: Path) -> Iterator[list[Path]]:
    batch: list[Path] = []
    for folder, _, names in os.walk(root):
        for name in names:
            if NAME.fullmatch(name) or name.startswith((TEMPORARY, LEAVING)):
                batch.append(Path(folder, name))
            if len(batch) == BATCH:
                yield batch
                batch = []
    if batch:
        yield batch


def _is_older(path: Path, *, limit: float) -> bool:
    try:
        return path.stat().st_mtime < limit
    except OSError:
        return False


def _remove(path: Path, *, limit: float) -> bool:
    """Out of sight first: a writer that renewed the file meanwhile is then seen by its age, or finds it gone."""
    leaving = path if path.name.startswith((TEMPORARY, LEAVING)) else path.with_name(LEAVING + path.name)
    try:
        if leaving != path:
            os.rename(path, leaving)
            if not _is_older(leaving, limit=limit):
                os.rename(leaving, path)
                return False
        os.unlink(leaving)
    except OSError:
        return False
    return True


def _explain(error: OSError, *, root: Path) -> str:
    if error.errno in NO_SPACE:
        return f"There is no room for the file ({error.strerror}). Free space on the disk of {root} and try again."
    if error.errno in NO_ACCESS:
        return f"The folder {root} cannot be written ({error.strerror}). Check that it exists and belongs to you."
    return f"The file was not written under {root} ({error.strerror}). Check the disk and try again."
