"""``manage.py doctor``: what each check says where something is wrong, and what helps."""

import json
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from pytest_django import Settings

from jobctrl.home import Home
from operations import checkup, health
from operations.checkup import Finding, Verdict, examine, fail, ok, warn
from operations.contracts import HEARTBEAT_FRESH_SECONDS
from operations.eventlog.guards import lift_guards
from operations.folding.engine import FAILING, list_apps
from operations.models import ProjectionWatermark, StoredSetting, WorkerRuntimeHeartbeat
from operations.processes.temporal_server import ensure_retention
from operations.workspace import ensure_workspace
from tests.temporal import running_temporal


def tell(finding: Finding) -> tuple[str, str, str]:
    return finding.verdict.value, finding.detail, finding.remedy


def declare(monkeypatch: pytest.MonkeyPatch, **checks: Any) -> None:
    monkeypatch.setattr(checkup, "_checks", checks)


def test_each_finding_stands_with_its_remedy_and_a_failure_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(monkeypatch, disk=lambda: ok("9 MB"), fonts=lambda: warn("none", "Install one."))
    call_command("doctor")
    assert capsys.readouterr().out.splitlines() == [
        "ok  disk           9 MB",
        "!!  fonts          none",
        "                   Install one.",
    ]

    declare(monkeypatch, disk=lambda: ok("9 MB"), home=lambda: fail("gone", "Make it."))
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor", json=True)
    assert json.loads(capsys.readouterr().out) == [
        {"check": "disk", "verdict": "ok", "detail": "9 MB", "remedy": ""},
        {"check": "home", "verdict": "failed", "detail": "gone", "remedy": "Make it."},
    ]


def test_a_check_that_raises_is_a_finding_and_the_others_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_one() -> Finding:
        raise KeyError("a secret")

    declare(monkeypatch, first=raise_one, second=lambda: ok("fine"))
    first, second = (item.finding for item in examine())

    assert tell(first) == ("failed", "the check itself raised KeyError", "Run it with LOG_LEVEL=DEBUG to see where.")
    assert second.verdict is Verdict.OK


def test_why_the_database_is_gone_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> Finding:
        raise DatabaseError("no such table: jobs")

    declare(monkeypatch, worker=ask)
    assert tell(examine()[0].finding) == (
        "warning", "cannot be told: the database is not migrated", "Run: manage.py migrate",
    )  # fmt: skip

    declare(monkeypatch, database=lambda: fail("is not migrated", "Run: manage.py migrate"), worker=ask)
    assert tell(examine()[1].finding) == ("warning", "cannot be told without the database", "See database, above.")


def test_home_is_ours_alone(tmp_path: Path, settings: Settings) -> None:
    settings.JOBCTRL_HOME = Home(tmp_path / "home")
    assert tell(health.check_home()) == ("ok", str(tmp_path / "home"), "")
    (tmp_path / "home").chmod(0o750)
    assert tell(health.check_home()) == (
        "warning", f"{tmp_path}/home can be read by others (mode 0750)", f"Run: chmod 700 {tmp_path}/home",
    )  # fmt: skip


def test_home_that_is_a_file_is_refused(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "file").touch()
    settings.JOBCTRL_HOME = Home(tmp_path / "file")
    verdict, detail, remedy = tell(health.check_home())
    assert (verdict, detail) == ("failed", f"JOBCTRL_HOME {tmp_path}/file cannot be written (File exists).")
    assert remedy == "It is not a folder: set JOBCTRL_HOME to another path."


def test_home_whose_key_cannot_be_read_is_refused(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other command would stop at it."""
    monkeypatch.delenv("SECRET_KEY", raising=False)
    settings.JOBCTRL_HOME = Home(tmp_path / "home")
    assert health.check_home().verdict is Verdict.OK
    settings.JOBCTRL_HOME.secret_key_file.unlink()
    settings.JOBCTRL_HOME.secret_key_file.mkdir()
    assert tell(health.check_home()) == (
        "failed", f"{tmp_path}/home/secret_key cannot be read (Is a directory).", "Make it a file of this user's.",
    )  # fmt: skip


def test_disk_space_has_a_stated_minimum(tmp_path: Path, settings: Settings) -> None:
    settings.JOBCTRL_HOME = Home(tmp_path)
    settings.JOBCTRL_MINIMUM_FREE_MB = 0
    assert health.check_disk().verdict is Verdict.OK
    settings.JOBCTRL_MINIMUM_FREE_MB = 10**9
    verdict, detail, remedy = tell(health.check_disk())
    assert (verdict, remedy) == ("failed", "Free some space.")
    assert "1000000000 MB are needed" in detail
    settings.JOBCTRL_HOME = Home(tmp_path / "gone")
    assert tell(health.check_disk())[:2] == (
        "warning", f"cannot be told: {tmp_path}/gone cannot be read (No such file or directory)",
    )  # fmt: skip


def test_database_lacks_a_migration(db: None) -> None:
    assert health.check_database().verdict is Verdict.OK
    loader = MigrationLoader(connection)
    for name in loader.graph.leaf_nodes("materials"):
        MigrationRecorder(connection).record_unapplied(*name)
    assert tell(health.check_database()) == ("failed", "1 migrations are not applied", "Run: manage.py migrate")


def test_database_whose_log_can_be_rewritten(db: None) -> None:
    with lift_guards():
        verdict, detail, remedy = tell(health.check_database())
    assert (verdict, remedy) == ("failed", "Run: manage.py migrate")
    assert detail.startswith("the event log is not protected (")


def test_workspace_of_another_home(db: None, tmp_path: Path, settings: Settings) -> None:
    queue = ensure_workspace().task_queue
    assert tell(health.check_workspace()) == ("ok", f"queue {queue}", "")
    settings.JOBCTRL_HOME = Home(tmp_path)
    verdict, detail, remedy = tell(health.check_workspace())
    assert verdict == "failed"
    assert remedy.startswith("Use the home and the database that belong together.")
    assert remedy.endswith("manage.py restore FOLDER --moved")
    assert str(tmp_path) in detail


def beat(*, identity: str, age: float = 0, stopped: bool = False) -> None:
    seen_at = timezone.now() - timedelta(seconds=age)
    WorkerRuntimeHeartbeat.objects.create(
        worker_id=f"w-{identity}-{age}", workspace_identity=identity, task_queue="q", process_id=1, slots=4,
        slots_busy=0, started_at=seen_at, last_seen_at=seen_at, stopped_at=seen_at if stopped else None,
    )  # fmt: skip


def test_a_worker_of_another_workspace_on_this_database(db: None) -> None:
    ensure_workspace()
    beat(identity="another", age=HEARTBEAT_FRESH_SECONDS + 5)
    assert health.check_workspace().verdict is Verdict.OK
    beat(identity="another")
    assert tell(health.check_workspace()) == (
        "failed", "a worker of another workspace uses this database", "Stop it, or use a database of its own.",
    )  # fmt: skip


def test_a_worker_counts_while_it_was_heard_of_and_has_not_stopped(db: None) -> None:
    beat(identity="a", age=HEARTBEAT_FRESH_SECONDS + 5)
    beat(identity="b", stopped=True)
    assert tell(health.check_worker()) == ("warning", "none is running", "Run: manage.py up")
    beat(identity="c")
    verdict, detail, remedy = tell(health.check_worker())
    assert (verdict, remedy) == ("ok", "")
    assert detail.startswith("last seen at ")


def test_projections_behind_the_log(db: None) -> None:
    assert tell(health.check_projections()) == ("ok", "as far as the log", "")
    app = list_apps()[0]
    ProjectionWatermark.objects.create(app=app, state=FAILING)
    verdict, detail, remedy = tell(health.check_projections())
    assert (verdict, detail) == ("failed", f"behind the log: {app}")
    assert remedy.endswith("run: manage.py rebuild_projections")


def test_a_stored_setting_out_of_its_range(db: None) -> None:
    assert tell(health.check_settings()) == ("ok", "all in range", "")
    StoredSetting.objects.create(key="min_fit_score", value=99)
    verdict, detail, remedy = tell(health.check_settings())
    assert (verdict, remedy) == ("warning", "Store an allowed value; until then the nearest one is used.")
    assert detail.startswith("min_fit_score: ")


def test_temporal_was_never_started_or_does_not_answer(tmp_path: Path, settings: Settings) -> None:
    settings.JOBCTRL_HOME, settings.JOBCTRL_TEMPORAL_PORT, settings.TEMPORAL_ADDRESS = Home(tmp_path), 0, ""
    assert tell(health.check_temporal()) == (
        "warning", "Temporal has not been started here yet. Run: manage.py up", "Run: manage.py up",
    )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    settings.TEMPORAL_ADDRESS = address
    assert tell(health.check_temporal()) == ("warning", f"nothing answers at {address}", "Run: manage.py up")


@pytest.mark.temporal
def test_temporal_must_keep_its_histories_for_90_days(tmp_path: Path, settings: Settings) -> None:
    with running_temporal(tmp_path / "temporal.db") as server:
        settings.TEMPORAL_ADDRESS = server.address
        verdict, detail, remedy = tell(health.check_temporal())
        assert (verdict, detail) == ("warning", "histories are kept for 1 days only")
        assert remedy == "Recovery needs their proof: keep them for 90 days (manage.py up sets it)."
        ensure_retention(server.address, "default")
        assert tell(health.check_temporal()) == ("ok", f"{server.address}, histories kept for 90 days", "")
