"""Commands on a database that cannot be used: the reason and the remedy, without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BASE_DIR = Path(__file__).resolve().parents[2]

REMEDIES = [
    pytest.param(b"", "not migrated", "Run: manage.py migrate", id="not migrated"),
    pytest.param(b"no database " * 900, "file is not a database", "manage.py restore FOLDER", id="damaged"),
]


def run_command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    environment |= {"JOBCTRL_HOME": str(home), "JOBCTRL_TEMPORAL_PORT": "0", "JOBCTRL_WEB_ADDRESS": "127.0.0.1:0"}
    command = [sys.executable, "manage.py", *arguments]
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
