"""``make test``: the suite on SQLite, beside it what visits with a browser, then the database tests on a temporary
PostgreSQL.

Says at the end what was skipped and why.
"""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, TypeVar

from tests.postgres import PostgresUnavailable, kept_cluster

ROOT = Path(__file__).resolve().parents[1]
Ended = TypeVar("Ended")

NO_TESTS_COLLECTED = 5
INTERRUPTED = 2
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")  # the files in the order that conftest gives them
ENVIRONMENT_KEPT = frozenset({"CHROMIUM_PATH"})
ENVIRONMENT_DROPPED = ("JOBCTRL_", "TEMPORAL_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "OTEL_")
SETTINGS_DROPPED = frozenset({"DATABASE_URL", "EMAIL_URL", "SECRET_KEY", "ALLOWED_HOSTS", "DEBUG", "LOG_LEVEL"})
SLOWNESS_DROPPED = "PYTHONDONTWRITEBYTECODE"  # hundreds of processes would each compile every module again


@dataclass(frozen=True, slots=True)
class Report:
    """What one run of pytest came to."""

    database: str
    exit_code: int
    passed: int = 0
    failed: int = 0
    seconds: float = 0.0
    skips: Counter[str] | None = None

    @property
    def is_good(self) -> bool:
        return self.exit_code in (0, NO_TESTS_COLLECTED)

    def describe(self) -> str:
        skipped = sum((self.skips or Counter()).values())
        return f"{self.database}: {self.passed} passed, {self.failed} failed, {skipped} skipped in {self.seconds:.0f} s"


@dataclass(frozen=True, slots=True)
class Suite:
    """One pytest: a part of the tests, on one database. ``processes`` 0 = in pytest's own."""

    name: str
    part: str
    marks: str
    processes: int
    environment: Mapping[str, str] = field(default_factory=dict)


def main(arguments: list[str]) -> int:
    number = choose_processes()
    plain = Suite("SQLite", "plain", "not postgres and not bench", number)
    browser = Suite("browser", "browser", "not bench", 0)
    reports = run_together(plain, browser, arguments)
    missing = ""
    if all(report.exit_code != INTERRUPTED for report in reports):
        try:
            with kept_cluster() as url:
                marks = "not bench and (not browser or worker)"
                postgres = Suite("PostgreSQL", "database", marks, number, {"DATABASE_URL": url})
                reports.append(run_suite(postgres, arguments))
        except PostgresUnavailable as error:
            missing = str(error)
    print_summary(reports, missing=missing)
    return 0 if all(report.is_good for report in reports) else 1


def run_together(shown: Suite, beside: Suite, arguments: list[str]) -> list[Report]:
    """``beside`` mostly waits, for a browser and for clocks; what it prints comes once both have ended."""
    with tempfile.TemporaryFile("w+") as output, ThreadPoolExecutor(1) as pool:
        other = pool.submit(run_suite, beside, arguments, output)
        reports = [run_suite(shown, arguments), wait_on(other.result)]
        output.seek(0)
        print(f"\n=== Tests: {beside.name} ===\n{output.read()}", flush=True)
    return reports


def run_suite(suite: Suite, arguments: list[str], output: TextIO | None = None) -> Report:
    """One pytest in a throw-away workspace; its output is the terminal's unless given."""
    if output is None:
        print(f"\n=== Tests: {suite.name} ===", flush=True)
    with tempfile.TemporaryDirectory(prefix="jobctrl-tests-") as folder:
        results = Path(folder) / "results.xml"
        options = ["-p", "tests.own_home", "-p", "tests.part", "-n", str(suite.processes), *BY_FILE, "-q"]
        command = [sys.executable, "-m", "pytest", f"--junitxml={results}", *options, "-m", suite.marks, *arguments]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=build_environment(Path(folder) / "home") | {"JOBCTRL_TEST_PART": suite.part} | suite.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output and subprocess.STDOUT,
        )
        code = wait_on(process.wait)
        return read_report(results, database=suite.name, exit_code=code)


def wait_on(wait: Callable[[], Ended]) -> Ended:
    """Ctrl-C reaches every pytest, too: each tidies up and ends with its report, which is waited for."""
    while True:
        try:
            return wait()
        except KeyboardInterrupt:
            continue


def choose_processes() -> int:
    """Two for each processor, at most eight: the long tests wait for processes of their own. On two processors three
    took as long, for a while with nothing to do, and five a third longer: each then took much more processor time."""
    return max(2, min(8, 2 * (os.cpu_count() or 1)))


def build_environment(home: Path) -> dict[str, str]:
    """The tests see none of the operator's own settings: neither those of the shell nor those of ``.env``."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in ENVIRONMENT_KEPT
        or not (name in SETTINGS_DROPPED or name == SLOWNESS_DROPPED or name.startswith(ENVIRONMENT_DROPPED))
    }
    return inherited | {"JOBCTRL_HOME": str(home), "JOBCTRL_ENV_FILE": os.devnull}


def read_report(results: Path, *, database: str, exit_code: int) -> Report:
    """From pytest's JUnit file; only the exit code where there is none."""
    if not results.exists():
        return Report(database=database, exit_code=exit_code)
    suites = ElementTree.parse(results).getroot()
    cases = list(suites.iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skips = Counter(
        skip.get("message", "").removeprefix("Skipped: ")
        for case in cases
        for skip in case.iter("skipped")
        if skip.get("type") != "pytest.xfail"
    )
    return Report(
        database=database,
        exit_code=exit_code,
        passed=len(cases) - len(failed) - sum(skips.values()),
        failed=len(failed),
        seconds=sum(float(suite.get("time", 0)) for suite in suites.iter("testsuite")),
        skips=skips,
    )


def print_summary(reports: list[Report], *, missing: str) -> None:
    print("\n=== Summary ===")
    for report in reports:
        print(report.describe())
    if missing:
        print(f"PostgreSQL: not run: {missing}")
    for report in reports:
        for reason, count in sorted((report.skips or Counter()).items()):
            print(f"skipped on {report.database}, {count} x: {reason}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
