"""A pytest plugin that leaves in one part of the suite, named by JOBCTRL_TEST_PART.

``plain`` is what needs no browser of pytest-playwright's: its loop makes every ORM call in the same
thread fail for as long as a browser lives, so ``browser`` is a run of its own. ``database`` is what
may behave differently on another database.
"""

import os

import pytest

BROWSER_FIXTURES = frozenset({"playwright"})  # what each of the plugin's own fixtures leads to
DATABASE_FIXTURES = frozenset({"db", "transactional_db", "django_db_reset_sequences", "live_server"})
DATABASE_MARKERS = ("django_db", "worker", "postgres")
PART = os.environ.get("JOBCTRL_TEST_PART", "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept = [item for item in items if belongs(item)]
    config.hook.pytest_deselected(items=[item for item in items if not belongs(item)])
    items[:] = kept


def belongs(item: pytest.Item) -> bool:
    visits = not BROWSER_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
    if PART == "browser":
        return visits
    return not visits and (PART != "database" or depends_on_database(item))


def depends_on_database(item: pytest.Item) -> bool:
    if item.get_closest_marker("sqlite_alone"):
        return False
    if any(item.get_closest_marker(name) for name in DATABASE_MARKERS):
        return True
    return not DATABASE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
