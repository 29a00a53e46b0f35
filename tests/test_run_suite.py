"""``make test`` itself: the temporary PostgreSQL, the clean environment, and the report of what was skipped."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.postgres import PostgresUnavailable, find_binaries, kept_cluster, running_cluster
from tests.processes import is_process_alive, wait_until
from tests.run import build_environment, read_report, wait_on

ROOT = Path(__file__).resolve().parents[1]

RESULTS = """<?xml version="1.0"?>
<testsuites><testsuite tests="6" time="61.5">
<testcase name="a"/><testcase name="b"/>
<testcase name="c"><failure message="assert 0"/></testcase>
<testcase name="d"><error message="no fixture"/></testcase>
<testcase name="e"><skipped type="pytest.skip" message="no Chromium was found"/></testcase>
<testcase name="f"><skipped type="pytest.skip" message="no Chromium was found"/></testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def cluster() -> Iterator[str]:
    try:
        with running_cluster() as url:
            yield url
    except PostgresUnavailable as error:
        pytest.skip(str(error))


def test_the_cluster_is_a_superusers_with_trigrams(cluster: str) -> None:
    with psycopg.connect(cluster) as connection:
        connection.execute("CREATE EXTENSION pg_trgm")
        assert connection.execute("SHOW fsync").fetchone() == ("off",)
        assert connection.execute("SELECT current_database(), usesuper FROM pg_user").fetchone() == ("jobctrl", True)


def test_the_cluster_wants_its_password(cluster: str) -> None:
    user, _, place = cluster.removeprefix("postgres://").partition(":")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(f"postgres://{user}:guess@{place.partition('@')[2]}")


def test_the_cluster_goes_when_its_user_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom tests.postgres import kept_cluster\n"
        "with kept_cluster() as url:\n    print(url, flush=True)\n    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o011)  # the user postgres has to get at its own folder
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as user:
        assert user.stdout and user.stderr
        if not user.stdout.readline():
            pytest.skip(f"no temporary PostgreSQL here: {user.stderr.read().splitlines()[-1:]}")
        (folder,) = tmp_path.glob("jobctrl-pg-*")
        postmaster = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        assert is_process_alive(postmaster)
        user.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_process_alive(postmaster), what="PostgreSQL is gone")
    wait_until(lambda: not folder.exists(), what="its folder is gone")


def test_it_says_that_postgres_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PostgresUnavailable, match="apt-get install postgresql"):
        find_binaries(tmp_path)


def test_it_takes_the_newest_version(tmp_path: Path) -> None:
    for version in ("9.6", "15", "16"):
        (tmp_path / version / "bin").mkdir(parents=True)
    for version in ("9.6", "15"):
        (tmp_path / version / "bin" / "initdb").touch()
    assert find_binaries(tmp_path) == tmp_path / "15" / "bin"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to change the user to run PostgreSQL")
def test_the_keeper_passes_the_reason_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(ROOT)
    with (
        pytest.raises(PostgresUnavailable, match=r"PostgreSQL (refuses to run as root|is not installed)"),
        kept_cluster(),
    ):
        pytest.fail("there was a cluster")


def test_the_tests_do_not_see_the_operators_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://production/jobs")
    monkeypatch.setenv("OPENAI_API_KEY", "a key that costs money")
    monkeypatch.setenv("CHROMIUM_PATH", "/opt/chromium")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    environment = build_environment(tmp_path)
    assert "PYTHONDONTWRITEBYTECODE" not in environment
    assert "DATABASE_URL" not in environment
    assert "OPENAI_API_KEY" not in environment
    assert environment["CHROMIUM_PATH"] == "/opt/chromium"
    assert environment["JOBCTRL_HOME"] == str(tmp_path)


def test_a_run_that_is_broken_off_waits_for_every_report() -> None:
    """Whichever part it is waiting for: the one on the terminal, or the one beside it."""
    asked: list[int] = []

    def wait() -> str:
        asked.append(1)
        if len(asked) < 3:
            raise KeyboardInterrupt
        return "its report"

    assert wait_on(wait) == "its report"


def test_it_counts_skips_by_reason(tmp_path: Path) -> None:
    (tmp_path / "results.xml").write_text(RESULTS)
    report = read_report(tmp_path / "results.xml", database="SQLite", exit_code=1)
    assert report.describe() == "SQLite: 2 passed, 2 failed, 2 skipped in 62 s"
    assert report.skips == Counter({"no Chromium was found": 2})
    assert not report.is_good


def test_a_run_without_results_is_not_good(tmp_path: Path) -> None:
    report = read_report(tmp_path / "results.xml", database="SQLite", exit_code=4)
    assert not report.is_good


def test_what_needs_a_browser_is_skipped_with_the_remedy_where_there_is_none(tmp_path: Path) -> None:
    environment = build_environment(tmp_path / "home") | {"CHROMIUM_PATH": str(tmp_path / "none")}
    found = "tests/worker/test_refuse_unusable_home.py::test_a_document_that_cannot_be_stored_is_a_typed_failure_and_tried_again"
    options = ["-p", "tests.own_home", "-n", "0", "-q", "-rs"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, found], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert "1 skipped" in done.stdout, done.stdout
    assert "apt-get install chromium" in done.stdout
