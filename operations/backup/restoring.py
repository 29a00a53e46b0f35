"""Putting a backup in place of what is there: checked first, the present files moved aside, never deleted."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from operations.backup.copying import copy_file, find_lacking_room, flush_to_disk, hash_file, list_parts, make_folder
from operations.backup.declaration import list_registered, query_database
from operations.backup.errors import BackupDamaged, RestoreRefused, RestoreUnfinished
from operations.backup.finding import NAME
from operations.backup.manifest import Manifest, read_manifest
from operations.backup.names import POSTGRES_FILE, SECRET_KEY_FILE, SQLITE_FILE, TEMPORAL_FILE
from operations.backup.postgres import (
    ASIDE,
    find_program,
    move_schema_aside,
    move_schema_back,
    restore_postgres,
)
from operations.backup.presence import find_database_file, refuse_live_worker, refuse_open_databases
from operations.database import writer
from operations.eventlog import append
from operations.events import WorkspaceRestored
from operations.folding.rebuild import ProjectionReport, verify_projections
from operations.processes.workspace_lock import hold_workspace
from operations.services.draining import forget_drain, stop_heartbeats
from operations.workspace import adopt_workspace, compute_identity

STAGING = ".restoring"
Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Restored:
    """``aside`` is where the present files went; ``missing`` are documents that rows name and that are not as they
    should be; ``open_runs`` are for the reconciler, which asks Temporal about each."""

    manifest: Manifest
    aside: Path
    former_identity: str
    projections: ProjectionReport
    missing: list[str]
    open_runs: int


def restore_backup(folder: Path, *, has_moved: bool, show: Show) -> Restored:
    """Replace this workspace by a backup of it. ``has_moved`` confirms that it lived somewhere else.

    Raises:
        RestoreRefused, BackupDamaged, AlreadyRunning, CopyFailed: nothing was changed; the message says what to do.
        RestoreUnfinished: the backup is in place, and something after it failed.
    """
    home = settings.JOBCTRL_HOME
    manifest = read_manifest(folder)
    home.create()
    with hold_workspace(home.root):
        refuse_live_worker()
        refuse_unfit(manifest, has_moved=has_moved)
        verify_files(folder, manifest, show=show)
        refuse_open_databases()
        _refuse_without_room(manifest)
        staging = home.root / STAGING
        shutil.rmtree(staging, ignore_errors=True)
        try:
            _stage(folder, staging, manifest, show=show)
            aside = _choose_aside()
            with _present_files_aside(aside):
                _place(staging, folder, manifest, aside=aside)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        try:
            return _finish(manifest, aside, show=show)
        except Exception as error:
            raise RestoreUnfinished(
                f"The backup is in place, but {type(error).__name__} ended the checks after it. Look with manage.py "
                f"doctor. What was here before is in {aside}."
            ) from error


def _finish(manifest: Manifest, aside: Path, *, show: Show) -> Restored:
    show("bringing the database up to date")
    call_command("migrate", interactive=False, verbosity=0)
    former = _record_restore(manifest)
    show("comparing the projections with the log")
    projections = verify_projections()
    show("checking the documents")
    return Restored(manifest, aside, former, projections, list_missing_documents(), _count_open_runs())


def refuse_unfit(manifest: Manifest, *, has_moved: bool) -> None:
    """Raises ``RestoreRefused`` where this backup does not belong here, or is newer than this version."""
    if manifest.vendor != connection.vendor:
        raise RestoreRefused(
            f"This backup holds a {manifest.vendor} database, and DATABASE_URL names a {connection.vendor} one."
        )
    is_remote = bool(settings.TEMPORAL_ADDRESS)
    if is_remote != (manifest.temporal == "remote"):
        where = "a Temporal cluster (TEMPORAL_ADDRESS)" if manifest.temporal == "remote" else "its own Temporal"
        raise RestoreRefused(f"This backup was made with {where}. Set or unset TEMPORAL_ADDRESS as it was then.")
    if manifest.namespace != settings.TEMPORAL_NAMESPACE:
        raise RestoreRefused(
            f"This backup was made with TEMPORAL_NAMESPACE={manifest.namespace}. Set it as it was then."
        )
    if manifest.vendor == "postgresql":
        find_program("pg_restore")
    unknown = list_unknown_migrations(manifest.migrations)
    if unknown:
        raise RestoreRefused(
            f"This backup was made by a newer jobctrl ({manifest.product_version}): {unknown[0]} is not known here. "
            "Restore it with that version."
        )
    if manifest.identity != compute_identity() and not has_moved:
        raise RestoreRefused(
            f"This backup is of the workspace at {manifest.home}, and this one is at {settings.JOBCTRL_HOME.root}. If "
            "the workspace has moved here, and no longer runs there, repeat the command with --moved."
        )


def list_unknown_migrations(applied: dict[str, list[str]]) -> list[str]:
    known = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    return [f"{app}.{name}" for app, names in applied.items() for name in names if (app, name) not in known]


def verify_files(folder: Path, manifest: Manifest, *, show: Show) -> None:
    """Raises ``BackupDamaged`` unless every file is there and as it was made."""
    for number, file in enumerate(manifest.files, start=1):
        show(f"checking the backup: {number:,} of {len(manifest.files):,} files")
        path = folder / file.path
        try:
            is_whole = not path.is_symlink() and hash_file(path) == (file.sha256, file.size)
        except OSError as error:
            raise BackupDamaged(f"{path} cannot be read ({error.strerror}); nothing was changed.") from None
        if not is_whole:
            raise BackupDamaged(f"{path} is not as it was when the backup was made; nothing was changed.")
    if manifest.find(SQLITE_FILE if manifest.vendor == "sqlite" else POSTGRES_FILE) is None:
        raise BackupDamaged(f"{folder} holds no database; nothing was changed.")


def _refuse_without_room(manifest: Manifest) -> None:
    root = settings.JOBCTRL_HOME.root
    lacking = find_lacking_room(root, needed=manifest.size, spare=settings.JOBCTRL_MINIMUM_FREE_MB * 1_000_000)
    if lacking:
        raise RestoreRefused(f"{lacking // 1_000_000 + 1} MB more must be free in {root}; nothing was changed.")


def _stage(folder: Path, staging: Path, manifest: Manifest, *, show: Show) -> None:
    """Copy everything beside its place, hashing once more what was really copied."""
    make_folder(staging / "artifacts")
    for number, file in enumerate(manifest.files, start=1):
        show(f"copying: {number:,} of {len(manifest.files):,} files")
        if file.path == POSTGRES_FILE:
            continue
        try:
            is_whole = copy_file(folder / file.path, staging / file.path) == (file.sha256, file.size)
        except OSError as error:
            raise RestoreRefused(f"{file.path} could not be copied ({error.strerror}); nothing was changed.") from None
        if not is_whole:
            raise BackupDamaged(f"{file.path} changed while it was read; nothing was changed.")
    flush_to_disk([staging])


def _choose_aside() -> Path:
    parent = settings.JOBCTRL_HOME.root / "aside"
    name = timezone.now().astimezone(UTC).strftime(NAME)
    number = 1
    while (aside := parent / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    make_folder(aside)
    return aside


@contextmanager
def _present_files_aside(aside: Path) -> Iterator[None]:
    """The present files are in ``aside`` after it, and back in their places where the block raised."""
    home = settings.JOBCTRL_HOME
    database = find_database_file()
    present = [
        *list_parts(home.temporal_database),
        *(list_parts(database) if database else []),
        *(path for path in (home.secret_key_file, home.artifacts) if path.exists()),
    ]
    moved: list[tuple[Path, Path]] = []
    connections.close_all()
    try:
        for path in present:
            shutil.move(path, aside / path.name)
            moved.append((path, aside / path.name))
        yield
    except BaseException:
        for path, kept in reversed(moved):
            if path.is_dir():
                shutil.rmtree(path)
            shutil.move(kept, path)
        raise


def _place(staging: Path, folder: Path, manifest: Manifest, *, aside: Path) -> None:
    home, database = settings.JOBCTRL_HOME, find_database_file()
    places = {
        TEMPORAL_FILE: home.temporal_database,
        SECRET_KEY_FILE: home.secret_key_file,
        "artifacts": home.artifacts,
        **({SQLITE_FILE: database} if database else {}),
    }
    for name, place in places.items():
        if (staging / name).exists():
            shutil.move(staging / name, place)
    flush_to_disk([home.root])
    if database is None:
        schema = f"{ASIDE}{aside.name.lower().replace('-', '_')}"
        move_schema_aside(schema)
        try:
            restore_postgres(folder / POSTGRES_FILE)
        except BaseException:
            move_schema_back(schema)
            raise


def _record_restore(manifest: Manifest) -> str:
    """Returns the former identity, "" where the workspace has not moved."""
    stop_heartbeats()
    forget_drain()
    with writer():
        former = adopt_workspace()
        append(
            WorkspaceRestored(
                made_at=_to_utc(manifest.made_at),
                last_event_id=manifest.counts.get("lastEventId", 0),
                files=len(manifest.files),
                identity=compute_identity(),
                former_identity=former,
            )
        )
    return former


def _to_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def list_missing_documents() -> list[str]:
    """Files that rows name and that are absent, or no longer what their row says."""
    missing = []
    for file in list_registered(query_database):
        try:
            sha256, _ = hash_file(settings.JOBCTRL_HOME.root / file.path)
        except OSError:
            sha256 = ""
        if sha256 != file.sha256:
            missing.append(file.path)
    return missing


def _count_open_runs() -> int:
    ((count,),) = query_database(
        "SELECT count(*) FROM workflow_run_projections WHERE status IN ('starting', 'in_progress')"
    )
    return int(count)
