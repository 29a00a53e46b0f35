"""Shared fixtures. The workspace of a test run is a throw-away folder."""

import gc
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.template import Template, migrated_template
from tests.temporal import TemporalServer, running_temporal

if "JOBCTRL_HOME" not in os.environ:
    os.environ["JOBCTRL_HOME"] = tempfile.mkdtemp(prefix="jobctrl-tests-")
os.environ.setdefault("JOBCTRL_ENV_FILE", os.devnull)


LONG = ("worker", "browser", "temporal")


def find_obstacle() -> str:
    """Why nothing that needs Chromium can be tried here, "" where it can."""
    from materials.chromium import ChromiumMissing, find_chromium

    try:
        find_chromium()
    except ChromiumMissing as missing:
        return str(missing)
    return ""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Several test processes share out whole files. Those with long tests go first, so that none is left to one process
    at the end."""
    if missing := find_obstacle():
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason=missing))
    items.sort(key=lambda item: next((rank for rank, mark in enumerate(LONG) if item.get_closest_marker(mark)), 9))


def pytest_collection_finish() -> None:
    """What the tests are made of stays to the end: the collector walked over it for a twelfth of their time."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _flush_under_guards() -> Iterator[None]:
    """The event log refuses DELETE and TRUNCATE; only the tests' own flush may lift that."""
    from django.test import TransactionTestCase

    from operations.eventlog.guards import install_guards, lift_guards

    flush = TransactionTestCase._fixture_teardown

    def flush_lifted(case: Any) -> None:
        with lift_guards():
            flush(case)
        install_guards()

    TransactionTestCase._fixture_teardown = flush_lifted  # type: ignore[method-assign]
    yield
    TransactionTestCase._fixture_teardown = flush  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def _pages_ask_no_temporal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's question runs in a thread of its own and would still be out when the next test begins."""
    from operations.temporal_probe import TemporalAnswer, TemporalState, temporal_probe

    silent = TemporalAnswer(TemporalState.UNKNOWN, has_address=False)
    monkeypatch.setattr(temporal_probe, "peek", lambda: silent)


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    """For whoever does not stop it: starting one costs a second."""
    with running_temporal(tmp_path_factory.mktemp("temporal") / "temporal.db") as server:
        yield server


@pytest.fixture(scope="session")
def temporal(temporal_server: TemporalServer) -> TemporalServer:
    return temporal_server


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    with migrated_template(tmp_path_factory.mktemp("database")) as made:
        yield made


@pytest.fixture
def assert_rebuild_matches(db: None) -> Callable[[], None]:
    """Fails unless every projection is what a fresh fold of the log gives, table by table."""
    from operations.folding.rebuild import verify_projections

    def check() -> None:
        report = verify_projections()
        assert report.is_clean, [table for table in report.tables if not table.is_clean] or report.flagged

    return check


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """pytest-playwright's browser is the product's own Chromium; it downloads none."""
    from materials.chromium import find_chromium

    if missing := find_obstacle():
        pytest.skip(missing)
    return {**browser_type_launch_args, "executable_path": str(find_chromium()), "args": ["--no-sandbox"]}
