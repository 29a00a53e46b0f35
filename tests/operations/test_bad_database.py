"""Commands on a database that cannot be used: the reason and the remedy, without a traceback."""

import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from django.db import OperationalError, connection

from jobctrl.home import Home
from operations.checkup import Verdict, advise_on_failure, describe_failure, find_file_obstacle
from operations.health import check_database
from tests.template import Template

BASE_DIR = Path(__file__).resolve().parents[2]

REMEDIES = [
    pytest.param(b"", "not migrated", "Run: manage.py migrate", id="not migrated"),
    pytest.param(b"no database " * 900, "file is not a database", "manage.py restore FOLDER", id="damaged"),
]


def run_command(home: Path, *arguments: str, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """``before`` is a command that runs the rest of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    environment |= {"JOBCTRL_HOME": str(home), "JOBCTRL_TEMPORAL_PORT": "0", "JOBCTRL_WEB_ADDRESS": "127.0.0.1:0"}
    command = [*before, sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(("content", "reason", "remedy"), REMEDIES)
def test_a_command_says_what_to_do(tmp_path: Path, content: bytes, reason: str, remedy: str) -> None:
    (tmp_path / "jobctrl.db").write_bytes(content)

    told = run_command(tmp_path, "pipeline_status")

    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert reason in told.stderr
    assert remedy in told.stderr


def test_up_says_what_to_do_about_a_damaged_database(tmp_path: Path) -> None:
    (tmp_path / "jobctrl.db").write_bytes(b"no database " * 900)

    told = run_command(tmp_path, "up")

    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "manage.py restore FOLDER" in told.stderr


def test_doctor_sends_nobody_with_a_damaged_database_to_migrate(tmp_path: Path) -> None:
    (tmp_path / "jobctrl.db").write_bytes(b"no database " * 900)

    told = run_command(tmp_path, "doctor")

    assert told.returncode == 1
    assert "manage.py restore FOLDER" in told.stdout
    assert "migrate" not in told.stdout
    assert "DATABASE_URL" not in told.stdout


@pytest.fixture
def home(tmp_path: Path, template: Template) -> Path:
    """A migrated workspace that was used before."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    Home(home).read_secret_key()
    with template.copied(home):  # a file that stays
        pass
    return home


def run_under(script: str, home: Path) -> tuple[str, ...]:
    """What a command is run by to have file systems of its own, which this mounts over ``$0``. Only root may."""
    before = ("unshare", "--mount", "sh", "-c", f'{script} && exec "$@"', str(home))
    tried = subprocess.run([*before, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
    return before


@pytest.fixture
def frozen(home: Path) -> Iterator[tuple[Path, Sequence[str]]]:
    """A workspace that became read-only, and what a command must be run by to find it so.

    Root may write wherever the file system lets it: there the folder is mounted read-only, for that command alone.
    """
    if os.geteuid() == 0:
        yield home, run_under('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"', home)
        return
    home.chmod(0o500)
    yield home, ()
    home.chmod(0o700)


FILL = (
    'cp -a "$0" "$0.kept" && mount -t tmpfs -o size=16m none "$0" && cp -a "$0.kept/." "$0"'
    ' && { dd if=/dev/zero of="$0/filler" bs=4k 2>/dev/null; true; }'
)


@pytest.mark.parametrize("command", ["import_profile discovery/sample_profile.json", "pipeline_status", "doctor"])
def test_a_command_on_a_full_disk_sends_nobody_to_a_backup(home: Path, command: str) -> None:
    told = run_command(home, *shlex.split(command), before=run_under(FILL, home))

    said = told.stdout + told.stderr
    assert told.returncode == 1
    assert "Traceback" not in said
    assert "Free some space on its disk" in said
    assert "restore FOLDER" not in told.stderr + "".join(re.findall(r"database.*\n.*", told.stdout))


@pytest.mark.parametrize(
    "command",
    [
        "import_profile discovery/sample_profile.json",
        "run_stage score --job 6f1c0e1e-0000-4000-8000-000000000001",
        "pipeline_status",
        "add_source lever x",
    ],
)
def test_a_command_on_a_workspace_that_became_read_only_calls_nothing_damaged(
    frozen: tuple[Path, Sequence[str]], command: str
) -> None:
    home, before = frozen

    told = run_command(home, *shlex.split(command), before=before)

    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert f"The database {home}/jobctrl.db cannot be written (" in told.stderr
    assert "writable for this user, or set JOBCTRL_HOME to another folder." in told.stderr
    assert "restore" not in told.stderr


@pytest.mark.parametrize("command", ["up", "runworker", "demo --headless"])
def test_nothing_starts_on_a_workspace_that_became_read_only(frozen: tuple[Path, Sequence[str]], command: str) -> None:
    home, before = frozen
    where = ("--home", str(home)) if command.startswith("demo") else ()

    told = run_command(home, *shlex.split(command), *where, before=before)

    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert f"JOBCTRL_HOME {home} cannot be written (" in told.stderr
    assert "running" not in told.stdout


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """Where not even root can make a folder."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "home"


def test_doctor_lists_every_check_where_the_home_cannot_be_made(nowhere: Path) -> None:
    told = run_command(nowhere, "doctor", "--json", before=("env", "-u", "SECRET_KEY"))

    found = {item["check"]: item for item in json.loads(told.stdout)}
    assert told.returncode == 1
    assert {name for name, item in found.items() if item["verdict"] == "failed"} - {"chromium"} == {"home", "database"}
    assert found["home"]["detail"].startswith(f"JOBCTRL_HOME {nowhere} cannot be written (")
    assert f"{nowhere}/jobctrl.db cannot be written" in found["database"]["detail"]
    assert all(item["remedy"] for item in found.values() if item["verdict"] != "ok")
    without = {name for name, item in found.items() if item["detail"] == "cannot be told without the database"}
    assert without == {
        "workspace", "projections", "backups", "settings", "model spend", "worker", "profile", "sources",
    }  # fmt: skip


def test_other_commands_refuse_a_home_that_cannot_be_made(nowhere: Path) -> None:
    told = run_command(nowhere, "pipeline_status", before=("env", "-u", "SECRET_KEY"))

    assert told.returncode == 1
    assert told.stderr.startswith(f"CommandError: JOBCTRL_HOME {nowhere} cannot be written")


@pytest.fixture
def database(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the checks look at."""
    if connection.vendor != "sqlite":
        pytest.skip("it is about SQLite's file")
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "jobctrl.db"))
    (tmp_path / "jobctrl.db").touch()
    return tmp_path / "jobctrl.db"


def test_what_lies_beside_the_database_must_be_writable_too(database: Path) -> None:
    error = OperationalError("unable to open database file")
    assert find_file_obstacle() is None
    assert "put a backup back" in advise_on_failure(error)

    database.with_name("jobctrl.db-shm").mkdir()  # what not even root can write

    assert describe_failure(error) == f"the database {database} cannot be written (Is a directory)"
    assert advise_on_failure(error).endswith("or name another in DATABASE_URL.")
    finding = check_database()
    assert (finding.verdict, finding.detail) == (Verdict.FAILED, "its file cannot be written (Is a directory)")


def test_looking_at_the_file_drops_no_lock_on_it(database: Path) -> None:
    """To close any descriptor of the file would let others write into our transaction."""
    ours = sqlite3.connect(database, isolation_level=None)
    ours.execute("PRAGMA journal_mode=WAL")
    ours.execute("CREATE TABLE t (x)")
    ours.execute("BEGIN IMMEDIATE")
    ours.execute("INSERT INTO t VALUES (1)")
    program = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')"
    )

    assert find_file_obstacle() is None

    other = subprocess.run([sys.executable, "-c", program, str(database)], capture_output=True, text=True, check=False)
    assert "database is locked" in other.stderr
    ours.close()


def test_a_full_disk_is_no_damage() -> None:
    assert advise_on_failure(OperationalError("database or disk is full")) == "Free some space on its disk."


def test_migrating_brings_a_guard_that_an_older_workspace_lacks(home: Path) -> None:
    with closing(sqlite3.connect(home / "jobctrl.db")) as database:
        database.execute("DROP TRIGGER job_events_no_replace")

    refused = run_command(home, "runworker")
    assert refused.returncode == 1
    assert "not protected: job_events_no_replace. Run: manage.py migrate" in refused.stderr
    assert run_command(home, "migrate").returncode == 0

    with closing(sqlite3.connect(home / "jobctrl.db")) as database:
        found = database.execute("SELECT name FROM sqlite_master WHERE name = 'job_events_no_replace'").fetchall()
    assert found == [("job_events_no_replace",)]


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("JOBCTRL_TEMPORAL_PORT", "abc", "JOBCTRL_TEMPORAL_PORT 'abc' is not a whole number from 0 to 65535."),
        ("JOBCTRL_TEMPORAL_PORT", "65536", "JOBCTRL_TEMPORAL_PORT '65536' is not a whole number from 0 to 65535."),
        ("JOBCTRL_MINIMUM_FREE_MB", "-1", "JOBCTRL_MINIMUM_FREE_MB '-1' is not a whole number"),
        ("JOBCTRL_STREAM_STALL_SECONDS", "nan", "JOBCTRL_STREAM_STALL_SECONDS 'nan' is not a number"),
        (
            "JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS",
            "0",
            "JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS '0' is not a number from 1 to 300.",
        ),
        (
            "LOG_LEVEL",
            "LOUD",
            "LOG_LEVEL 'LOUD' is not one of NOTSET, DEBUG, INFO, WARN, WARNING, ERROR, FATAL, CRITICAL.",
        ),
        ("LOG_FORMAT", "xml", "LOG_FORMAT 'xml' is not one of text, json."),
        (
            "DATABASE_URL",
            "mysql://my-secret-server/jobs",
            "DATABASE_URL is not the address of a database that this works",
        ),
        ("DATABASE_URL", "my-secret-server/jobs", "DATABASE_URL is not the address of a database"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named(tmp_path: Path, setting: str, value: str, told: str) -> None:
    answer = run_command(tmp_path, "pipeline_status", before=("env", f"{setting}={value}"))

    assert answer.returncode == 1
    assert answer.stderr.startswith(f"CommandError: {told}")
    assert "my-secret-server" not in answer.stderr


def test_sqlites_temporary_files_lie_where_room_is_checked(tmp_path: Path) -> None:
    program = "import django, os; django.setup(); print(os.environ['SQLITE_TMPDIR'])"
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "SQLITE_TMPDIR")}
    environment |= {"JOBCTRL_HOME": str(tmp_path / "home"), "DJANGO_SETTINGS_MODULE": "jobctrl.settings"}
    asked = subprocess.run(
        [sys.executable, "-c", program], cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=True
    )
    assert asked.stdout.strip() == str(tmp_path / "home")
