"""``manage.py up`` in a process of its own, on a workspace and a database of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.template import Template

ROOT = Path(__file__).resolve().parents[1]
READY = "Everything is running"


@contextmanager
def own_environment(home: Path, template: Template) -> Iterator[dict[str, str]]:
    """Free ports, and a migrated database, on SQLite where the product looks for it by itself."""
    home.mkdir(mode=0o700)
    with template.copied(home) as url:
        chosen = {
            "JOBCTRL_HOME": str(home),
            "JOBCTRL_TEMPORAL_PORT": "0",
            "JOBCTRL_WEB_ADDRESS": "127.0.0.1:0",
            "SECRET_KEY": "of-a-test",
        }
        yield {**os.environ, **chosen, **({"DATABASE_URL": url} if template.url else {})}


def build_command() -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), "up"]


@contextmanager
def running_up(environment: dict[str, str]) -> Iterator[tuple["subprocess.Popen[str]", list[str]]]:
    """The process and what it printed until everything was running."""
    with subprocess.Popen(
        build_command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as up:
        assert up.stdout is not None
        lines = []
        try:
            for line in up.stdout:
                lines.append(line.rstrip())
                if line.startswith(READY):
                    break
            else:
                pytest.fail("up ended before everything was running:\n" + "\n".join(lines))
            yield up, lines
        finally:
            up.kill()


def read_pids(lines: list[str]) -> list[int]:
    return [int(pid) for line in lines for pid in re.findall(r"running.*\(pid (\d+)", line)]


def run_up(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(build_command(), capture_output=True, text=True, env=environment, timeout=60, check=False)
