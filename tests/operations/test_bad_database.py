"""Commands on a database that cannot be used: the reason and the remedy, without a traceback."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from django.db import OperationalError

from jobctrl.home import Home
from operations.checkup import advise_on_failure
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
def frozen(tmp_path: Path, template: Template) -> Iterator[tuple[Path, Sequence[str]]]:
    """A migrated workspace that became read-only, and what a command must be run by to find it so.

    Root may write wherever the file system lets it: there the folder is mounted read-only, for that command alone.
    """
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    Home(home).read_secret_key()
    with template.copied(home):  # a file that stays
        pass
    if os.geteuid() != 0:
        home.chmod(0o500)
        yield home, ()
        home.chmod(0o700)
        return
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    before = ("unshare", "--mount", "sh", "-c", mount, str(home))
    tried = subprocess.run([*before, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"this root may not mount a folder read-only: {tried.stderr.strip()}")
    yield home, before


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
    assert "Make the file and its folder writable for this user, or set JOBCTRL_HOME to another folder." in told.stderr
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


def test_doctor_lists_every_check_where_the_home_cannot_be_made() -> None:
    told = run_command(Path("/proc/nowhere"), "doctor", "--json", before=("env", "-u", "SECRET_KEY"))

    found = {item["check"]: item for item in json.loads(told.stdout)}
    assert told.returncode == 1
    assert {name for name, item in found.items() if item["verdict"] == "failed"} - {"chromium"} == {"home", "database"}
    assert found["home"]["detail"].startswith("JOBCTRL_HOME /proc/nowhere cannot be written (")
    assert "/proc/nowhere/jobctrl.db cannot be written" in found["database"]["detail"]
    assert all(item["remedy"] for item in found.values() if item["verdict"] != "ok")
    without = {name for name, item in found.items() if item["detail"] == "cannot be told without the database"}
    assert without == {
        "workspace", "projections", "backups", "settings", "model spend", "worker", "profile", "sources",
    }  # fmt: skip


def test_other_commands_refuse_a_home_that_cannot_be_made() -> None:
    told = run_command(Path("/proc/nowhere"), "pipeline_status", before=("env", "-u", "SECRET_KEY"))

    assert told.returncode == 1
    assert told.stderr.startswith("CommandError: JOBCTRL_HOME /proc/nowhere cannot be written")


def test_a_full_disk_is_no_damage() -> None:
    assert advise_on_failure(OperationalError("database or disk is full")) == "Free some space on its disk."
