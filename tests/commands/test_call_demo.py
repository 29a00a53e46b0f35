"""What the demo calls a success, and that it says why it cannot begin."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jobctrl.management.commands.demo import is_good

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "status": "succeeded", "discovered": 26, "failed": 0, "unfinished": 0, "withoutPdf": 0, "projectionsClean": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"status": "failed"}, False),
        ({"discovered": 0}, False),
        ({"failed": 1}, False),
        ({"unfinished": 2}, False),
        ({"withoutPdf": 1}, False),
        ({"projectionsClean": False}, False),
    ],
)
def test_it_succeeds_only_where_the_whole_job_was_done(change: dict[str, Any], expected: bool) -> None:
    assert is_good(GOOD | change) is expected


def test_it_says_in_a_line_why_it_cannot_begin() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "demo", "--headless", "--home", "/proc/nowhere"],
        env={**os.environ, "SECRET_KEY": "of-a-test"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("CommandError: JOBCTRL_HOME /proc/nowhere")
