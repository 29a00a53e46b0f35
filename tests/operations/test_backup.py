"""Backing up and restoring a workspace that nobody works in, by its commands."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone
from pydantic import ValidationError

from jobctrl.home import Home
from operations.backup import pausing
from operations.backup.copying import copy_sqlite, is_in_use
from operations.backup.describing import list_migrations
from operations.backup.errors import BackupDamaged, BackupRefused, RestoreRefused
from operations.backup.finding import note_backup
from operations.backup.manifest import BackedUpFile, read_manifest
from operations.backup.names import MANIFEST
from operations.backup.pausing import drained_workers
from operations.backup.restoring import refuse_unfit
from operations.checkup import Verdict
from operations.health import check_backups
from operations.processes.workspace_lock import hold_workspace
from operations.services.draining import ask_to_drain, confirm_drained, end_drain, find_drain, list_undrained
from operations.workspace import ensure_workspace
from tests.operations.api.conftest import note_worker
from tests.template import Template
from tests.worker.making import new_workspace
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

FLEETING = ("up.lock", "-wal", "-shm")
WRITE_DOCUMENT = """
from uuid import uuid4
from django.utils import timezone
from materials.models import Artifact
from materials.queries import get_artifact_files
from operations.database import writer
stored = get_artifact_files().write(b"%PDF-1.7 a letter")
with writer():
    Artifact.objects.create(
        job_id=uuid4(), kind="resume", version=1, sha256=stored.sha256, size=stored.size, pages=1,
        relative_path=stored.relative_path, template="plain", resume_version=1, letter_version=1,
        created_at=timezone.now(),
    )
"""
#: In a process of its own: a file that is read and closed here would lose the locks that this process has on it.
HOLD_OPEN = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1])
held.execute(f"PRAGMA journal_mode={sys.argv[2]}")
held.execute("CREATE TABLE IF NOT EXISTS executions (id INTEGER)")
print("open", flush=True)
sys.stdin.read()
"""
BEAT = """
from django.utils import timezone
from operations.database import writer
from operations.models import WorkerRuntimeHeartbeat
with writer():
    WorkerRuntimeHeartbeat.objects.create(
        worker_id="w", workspace_identity="x", task_queue="q", process_id=1, slots=4,
        started_at=timezone.now(), last_seen_at=timezone.now(),
    )
"""


@pytest.fixture
def workspace(tmp_path: Path, template: Template) -> Iterator[Workspace]:
    """With a profile, a source and one document; ``SECRET_KEY`` is the one in the home."""
    with new_workspace(tmp_path / "first", template=template, temporal_address="") as made:
        made.environment["SECRET_KEY"] = ""
        made.run("import_profile", str(SAMPLE_PROFILE))
        made.run_python(WRITE_DOCUMENT)
        yield made


def back_up(workspace: Workspace) -> Path:
    workspace.run("backup")
    (folder,) = (workspace.home / "backups").glob("2*")
    return folder


def read_home(workspace: Workspace) -> dict[str, str]:
    """Every file with its hash, but the lock and what SQLite keeps beside an open database."""
    files = (path for path in workspace.home.rglob("*") if path.is_file() and not path.name.endswith(FLEETING))
    return {str(path.relative_to(workspace.home)): sha256(path.read_bytes()).hexdigest() for path in files}


def refuse(workspace: Workspace, folder: Path, *options: str) -> str:
    """A restore that must be refused, and must change nothing; returns the reason."""
    before, events = read_home(workspace), workspace.count("job_events")
    done = workspace.manage("restore", str(folder), *options)
    assert done.returncode == 1, done.stdout
    assert read_home(workspace) == before
    assert workspace.count("job_events") == events
    return done.stderr


@pytest.mark.worker
def test_it_brings_everything_back_and_keeps_what_was_there(workspace: Workspace) -> None:
    folder = back_up(workspace)
    manifest = json.loads((folder / MANIFEST).read_text())
    secret = (workspace.home / "secret_key").read_text()
    documents, events = workspace.list_stored_files(), workspace.list_events()
    assert len(documents) == 1
    assert manifest["counts"] == {
        "events": len(events), "lastEventId": len(events), "jobs": 0, "runs": 0, "documents": 1,
    }  # fmt: skip
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*")} == {0o600, 0o700}
    assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()} == {0o600}
    assert secret not in (folder / MANIFEST).read_text()
    assert "of-a-test" not in (folder / MANIFEST).read_text()

    workspace.run("add_source", "bundled")
    (workspace.home / "artifacts" / documents[0]).write_bytes(b"spoiled")
    (workspace.home / "secret_key").write_text("another")
    later = workspace.list_events()
    printed = workspace.run("restore", str(folder))

    assert workspace.list_events()[:-1] == events
    (kind, restored) = workspace.list_events()[-1]
    assert kind == "WorkspaceRestored"
    assert (restored["lastEventId"], restored["formerIdentity"]) == (len(events), "")
    assert workspace.list_stored_files() == documents
    assert (workspace.home / "artifacts" / documents[0]).read_bytes() == b"%PDF-1.7 a letter"
    assert (workspace.home / "secret_key").read_text() == secret
    assert secret not in printed
    (aside,) = (workspace.home / "aside").iterdir()
    assert str(aside) in printed
    assert (aside / "artifacts" / documents[0]).read_bytes() == b"spoiled"
    assert (aside / "secret_key").read_text() == "another"
    if not workspace.database_url:
        with closing(sqlite3.connect(aside / "jobctrl.db")) as kept:
            assert kept.execute("SELECT count(*) FROM job_events").fetchone() == (len(later),)
    else:
        ((schema,),) = workspace.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'before_restore_%%'")
        assert workspace.count(f"{schema}.job_events") == len(later)
    workspace.assert_clean()


@pytest.mark.worker
def test_a_damaged_backup_is_refused_before_anything_is_touched(workspace: Workspace) -> None:
    folder = back_up(workspace)
    database = next(path for path in folder.iterdir() if path.name.startswith("jobctrl."))
    whole = database.read_bytes()
    (document,) = (folder / "artifacts").rglob("*.pdf")

    database.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert f"{database.name} is not as it was when the backup was made" in refuse(workspace, folder)
    database.write_bytes(whole)
    document.unlink()
    assert "cannot be read" in refuse(workspace, folder)


@pytest.mark.worker
def test_a_live_workspace_is_refused(workspace: Workspace) -> None:
    folder = back_up(workspace)

    with hold_workspace(workspace.home):
        assert "already running" in refuse(workspace, folder)
    for words in (("WAL",), ("DELETE", "start-dev")):  # the second holds no lock: it is known by its command line
        with subprocess.Popen(
            [sys.executable, "-c", HOLD_OPEN, str(workspace.home / "temporal.db"), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as temporal:
            assert temporal.stdout and temporal.stdout.readline() == "open\n"
            assert "Temporal is serving" in refuse(workspace, folder)
            temporal.communicate("")
    if workspace.database_url:
        with psycopg.connect(workspace.database_url):
            assert "1 other connection to this database" in refuse(workspace, folder)
    workspace.run_python(BEAT)
    assert "A worker is running here" in refuse(workspace, folder)


@pytest.mark.worker
def test_a_moved_workspace_must_be_confirmed_and_keeps_its_queue(workspace: Workspace, tmp_path: Path) -> None:
    folder = back_up(workspace)
    ((queue, former),) = workspace.query("SELECT task_queue, identity FROM workspaces")
    home = tmp_path / "second" / "home"
    home.mkdir(parents=True, mode=0o700)
    shutil.copyfile(workspace.home / "secret_key", home / "secret_key")
    moved = Workspace(
        home=home,
        database_url=workspace.database_url,
        temporal_address="",
        namespace="",
        environment={"SECRET_KEY": ""},
    )

    refused = moved.manage("restore", str(folder))
    assert refused.returncode == 1
    assert f"This backup is of the workspace at {workspace.home}" in refused.stderr
    assert not (home / "jobctrl.db").exists()
    printed = moved.run("restore", str(folder), "--moved")

    assert "The workspace has moved here" in printed
    ((kept, identity),) = moved.query("SELECT task_queue, identity FROM workspaces")
    assert kept == queue
    assert identity != former
    assert moved.list_events("WorkspaceRestored")[0][1]["formerIdentity"] == former
    moved.run_python(
        f"from operations.activities import check_workspace\ncheck_workspace('{former}'); check_workspace('{identity}')"
    )
    moved.assert_clean()


@pytest.mark.worker
def test_it_refuses_without_room_and_says_what_is_missing_on_disk(workspace: Workspace) -> None:
    workspace.environment["JOBCTRL_MINIMUM_FREE_MB"] = "999999999"
    refused = workspace.manage("backup")
    assert refused.returncode == 1
    assert "Free some space, or name another disk with --to" in refused.stderr
    assert [path.name for path in (workspace.home / "backups").iterdir()] == ["backup.lock"]
    del workspace.environment["JOBCTRL_MINIMUM_FREE_MB"]

    (document,) = workspace.list_stored_files()
    (workspace.home / "artifacts" / document).write_bytes(b"spoiled")
    printed = workspace.run("backup")
    assert f"not in it, missing or changed on disk: artifacts/{document}" in printed
    (folder,) = (workspace.home / "backups").glob("2*")
    restored = workspace.manage("restore", str(folder))
    assert restored.returncode == 1
    assert f"missing or changed: artifacts/{document}" in restored.stdout


# --- its parts, in this process ------------------------------------------------------------------


@pytest.fixture
def manifest(db: None) -> dict[str, Any]:
    """Of this process's own workspace, as a backup would describe it now."""
    workspace = ensure_workspace()
    return {
        "format": 1,
        "made_at": "2026-11-29T12:00:00Z",
        "product_version": "0.1.0",
        "versions": {},
        "identity": workspace.identity,
        "task_queue": workspace.task_queue,
        "home": workspace.home,
        "database": workspace.database,
        "vendor": connection.vendor,
        "temporal": "embedded",
        "namespace": "default",
        "migrations": list_migrations(),
        "counts": {},
        "drained": 0,
        "missing": [],
        "files": [],
    }


def judge(manifest: dict[str, Any], folder: Path, *, has_moved: bool = False) -> None:
    (folder / MANIFEST).write_text(json.dumps(manifest))
    refuse_unfit(read_manifest(folder), has_moved=has_moved)


def test_a_backup_that_belongs_here_is_accepted(manifest: dict[str, Any], tmp_path: Path) -> None:
    judge(manifest, tmp_path)
    judge({**manifest, "identity": "0" * 64}, tmp_path, has_moved=True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 2}, "has format 2; this version of jobctrl reads format 1"),
        ({"migrations": {"operations": ["0999_from_the_future"]}}, "operations.0999_from_the_future is not known here"),
        ({"vendor": "other"}, "not a whole manifest"),
        ({"temporal": "remote"}, "Set or unset TEMPORAL_ADDRESS"),
        ({"namespace": "other"}, "made with TEMPORAL_NAMESPACE=other"),
        ({"identity": "0" * 64}, "repeat the command with --moved"),
        ({"files": [{"path": "artifacts/../../x", "size": 1, "sha256": "0" * 64}]}, "not a whole manifest"),
        ({"surprise": 1}, "not a whole manifest"),
    ],
)
def test_a_backup_of_another_version_or_place_is_refused(
    manifest: dict[str, Any], tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RestoreRefused, match=reason):
        judge({**manifest, **changes}, tmp_path)


def test_a_backup_of_another_kind_of_database_is_refused(manifest: dict[str, Any], tmp_path: Path) -> None:
    other = "sqlite" if connection.vendor == "postgresql" else "postgresql"
    with pytest.raises(RestoreRefused, match="DATABASE_URL names"):
        judge({**manifest, "vendor": other}, tmp_path)


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RestoreRefused, match="is not a backup"):
        read_manifest(tmp_path)
    (tmp_path / MANIFEST).write_text('{"format": 1, "made_at": "2026')
    with pytest.raises(BackupDamaged, match="not a whole manifest"):
        read_manifest(tmp_path)


def test_a_copy_keeps_its_moment_while_others_write(tmp_path: Path) -> None:
    source, target = tmp_path / "live.db", tmp_path / "copy.db"
    with closing(sqlite3.connect(source, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE rows (body TEXT)")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO rows VALUES (?)", [("x" * 900,) for _ in range(20_000)])
        writer.execute("COMMIT")
        steps: list[tuple[int, int]] = []

        def write_meanwhile(done: int, total: int) -> None:
            steps.append((done, total))
            writer.execute("INSERT INTO rows VALUES ('late')")

        copy_sqlite(source, target, progress=write_meanwhile)
    assert len(steps) > 1
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("SELECT count(*) FROM rows").fetchone() == (20_000,)


def test_it_notices_who_has_a_database_open(tmp_path: Path) -> None:
    file = tmp_path / "some.db"
    assert not is_in_use(file)
    with closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE rows (body TEXT)")
    assert not is_in_use(file)
    with closing(sqlite3.connect(file)) as reader:
        reader.execute("SELECT * FROM rows").fetchall()
        assert is_in_use(file)
    assert not is_in_use(file)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../secret_key", "artifacts/../../x", "other.db", "a\\b"])
def test_a_manifest_cannot_name_a_file_outside(path: str) -> None:
    with pytest.raises(ValidationError):
        BackedUpFile(path=path, size=1, sha256="0" * 64)


@pytest.mark.django_db
def test_a_drain_ends_by_itself_and_belongs_to_whoever_asked_last() -> None:
    note_worker()
    now = timezone.now()
    first = ask_to_drain(now=now)
    assert find_drain(now=now + timedelta(seconds=59)) == first
    assert find_drain(now=now + timedelta(seconds=61)) == ""
    assert list_undrained(first, now=now) == ["w-test"]
    confirm_drained(first, worker_id="w-test")
    assert list_undrained(first, now=now) == []

    second = ask_to_drain(now=now)
    end_drain(first)
    assert find_drain(now=now) == second
    assert list_undrained(second, now=now) == ["w-test"]
    end_drain(second)
    assert find_drain(now=now) == ""


@pytest.mark.django_db
def test_a_worker_that_does_not_pause_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pausing, "DRAIN_SECONDS", 0.3)
    note_worker()
    shown: list[str] = []

    with pytest.raises(BackupRefused, match="w-test did not pause"), drained_workers(show=shown.append):
        pytest.fail("nothing may be copied")

    assert shown[0] == "waiting until 1 worker pauses"
    assert find_drain(now=timezone.now()) == ""


@pytest.mark.django_db
@pytest.mark.parametrize(("days", "verdict"), [(None, Verdict.WARNING), (6, Verdict.OK), (8, Verdict.WARNING)])
def test_doctor_warns_without_a_recent_backup(
    tmp_path: Path, settings: Any, days: int | None, verdict: Verdict
) -> None:
    settings.JOBCTRL_HOME = Home(tmp_path)
    if days is not None:
        made_at = datetime.now(UTC) - timedelta(days=days)
        folder = tmp_path / "elsewhere"
        folder.mkdir()
        (folder / MANIFEST).touch()
        note_backup(folder, made_at)

    finding = check_backups()

    assert finding.verdict is verdict
    assert (finding.remedy == "") is (verdict is Verdict.OK)
