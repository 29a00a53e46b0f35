"""Making a backup: the workers pause, Temporal's file is copied first, then ours, then the documents by hash."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from operations.backup.copying import (
    CopyFailed,
    copy_file,
    copy_sqlite,
    find_lacking_room,
    flush_to_disk,
    hash_file,
    make_folder,
    measure_sqlite,
)
from operations.backup.declaration import Query, list_registered, query_database
from operations.backup.describing import (
    count_contents,
    list_migrations,
    list_versions,
    query_copy,
    read_product_version,
)
from operations.backup.errors import BackupRefused
from operations.backup.finding import NAME, note_backup
from operations.backup.manifest import FORMAT, BackedUpFile, Manifest
from operations.backup.names import MANIFEST, POSTGRES_FILE, SECRET_KEY_FILE, SQLITE_FILE, TEMPORAL_FILE
from operations.backup.pausing import Show, drained_workers
from operations.backup.postgres import dump_postgres, measure_postgres
from operations.models import Workspace
from operations.workspace import ensure_workspace

MAKING = ".making-"
LOCK = "backup.lock"


@dataclass(frozen=True, slots=True)
class Backup:
    folder: Path
    manifest: Manifest


def take_backup(parent: Path, *, show: Show) -> Backup:
    """A new folder in ``parent``, whole or absent. ``show`` gets what is being done, one line at a time.

    Raises:
        BackupRefused, CopyFailed, WorkspaceMismatch: each message says what to do; nothing is left behind.
    """
    workspace = _find_workspace()
    make_folder(parent)
    with _hold_lock(parent):
        _remove_unfinished(parent)
        _refuse_without_room(parent)
        made_at = timezone.now()
        folder = parent / _choose_name(parent, made_at)
        making = parent / f"{MAKING}{folder.name}"
        make_folder(making)
        try:
            manifest = _fill(making, workspace, made_at=made_at, show=show)
            making.rename(folder)
        except OSError as error:
            raise CopyFailed(f"The backup could not be written to {parent} ({error.strerror}).") from None
        finally:
            shutil.rmtree(making, ignore_errors=True)
        flush_to_disk([parent])
        note_backup(folder, made_at)
    return Backup(folder, manifest)


def _find_workspace() -> Workspace:
    try:
        return ensure_workspace()
    except DatabaseError:
        raise BackupRefused("There is no workspace here to back up. Start it once with: manage.py up") from None


def _fill(folder: Path, workspace: Workspace, *, made_at: datetime, show: Show) -> Manifest:
    files = []
    with drained_workers(show=show) as (keep_drained, drained):
        migrations = list_migrations()
        if not settings.TEMPORAL_ADDRESS and settings.JOBCTRL_HOME.temporal_database.exists():
            report = _report(show, "Temporal's file", keep_drained)
            copy_sqlite(settings.JOBCTRL_HOME.temporal_database, folder / TEMPORAL_FILE, progress=report)
            files.append(TEMPORAL_FILE)
        if connection.vendor == "sqlite":
            copy_sqlite(
                Path(connection.settings_dict["NAME"]),
                folder / SQLITE_FILE,
                progress=_report(show, "the database", keep_drained),
            )
            files.append(SQLITE_FILE)
        else:
            show("copying the database")
            dump_postgres(folder / POSTGRES_FILE, while_waiting=keep_drained)
            files.append(POSTGRES_FILE)
    listed = [_describe(folder, name) for name in files]
    with query_copy(folder) as query:
        documents, missing = _copy_documents(folder, query, show=show)
        counts = count_contents(query, documents=len(documents))
    if settings.JOBCTRL_HOME.secret_key_file.exists():
        sha256, size = copy_file(settings.JOBCTRL_HOME.secret_key_file, folder / SECRET_KEY_FILE)
        listed.append(BackedUpFile(path=SECRET_KEY_FILE, size=size, sha256=sha256))
    manifest = Manifest(
        format=FORMAT,
        made_at=made_at,
        product_version=read_product_version(),
        versions=list_versions(),
        identity=workspace.identity,
        task_queue=workspace.task_queue,
        home=workspace.home,
        database=workspace.database,
        vendor="sqlite" if connection.vendor == "sqlite" else "postgresql",
        temporal="remote" if settings.TEMPORAL_ADDRESS else "embedded",
        namespace=settings.TEMPORAL_NAMESPACE,
        migrations=migrations,
        counts=counts,
        drained=drained,
        missing=missing,
        files=[*listed, *documents],
    )
    descriptor = os.open(folder / MANIFEST, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as output:
        output.write(manifest.model_dump_json(indent=1))
    flush_to_disk([folder])
    return manifest


def _report(show: Show, what: str, keep_drained: Callable[[], None]) -> Callable[[int, int], None]:
    def report(done: int, total: int) -> None:
        keep_drained()
        show(f"copying {what}: {100 * done // max(total, 1)} %")

    return report


def _copy_documents(folder: Path, query: Query, *, show: Show) -> tuple[list[BackedUpFile], list[str]]:
    """What was copied, and the paths of those that are absent or no longer what their row says."""
    registered = list(list_registered(query))
    copied, missing = [], []
    for number, file in enumerate(registered, start=1):
        show(f"copying documents: {number:,} of {len(registered):,}")
        target = folder / file.path
        try:
            sha256, size = copy_file(settings.JOBCTRL_HOME.root / file.path, target)
        except FileNotFoundError:
            missing.append(file.path)
            continue
        if sha256 != file.sha256:
            target.unlink()
            missing.append(file.path)
            continue
        copied.append(BackedUpFile(path=file.path, size=size, sha256=sha256))
    return copied, missing


def _describe(folder: Path, name: str) -> BackedUpFile:
    sha256, size = hash_file(folder / name)
    return BackedUpFile(path=name, size=size, sha256=sha256)


def _refuse_without_room(parent: Path) -> None:
    home = settings.JOBCTRL_HOME
    needed = sum(file.size for file in list_registered(query_database))
    if connection.vendor == "sqlite":
        needed += measure_sqlite(Path(connection.settings_dict["NAME"]))
    else:
        needed += measure_postgres()
    if not settings.TEMPORAL_ADDRESS:
        needed += measure_sqlite(home.temporal_database)
    lacking = find_lacking_room(parent, needed=needed, spare=settings.JOBCTRL_MINIMUM_FREE_MB * 1_000_000)
    if lacking:
        raise BackupRefused(
            f"The backup may take {needed // 1_000_000 + 1} MB, and {lacking // 1_000_000 + 1} MB more than is free in "
            f"{parent} are needed for it. Free some space, or name another disk with --to."
        )


def _choose_name(parent: Path, made_at: datetime) -> str:
    while (parent / made_at.astimezone(UTC).strftime(NAME)).exists():
        made_at += timedelta(seconds=1)
    return made_at.astimezone(UTC).strftime(NAME)


@contextmanager
def _hold_lock(parent: Path) -> Iterator[None]:
    """One backup at a time into one folder; the kernel lets go however this process ends."""
    descriptor = os.open(parent / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise BackupRefused(f"Another backup is being written to {parent}. Wait until it is done.") from None
    finally:
        os.close(descriptor)


def _remove_unfinished(parent: Path) -> None:
    """What a killed backup left; whoever holds the lock knows that nobody writes to it."""
    for left in parent.glob(f"{MAKING}*"):
        shutil.rmtree(left, ignore_errors=True)
