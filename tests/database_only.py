"""A pytest plugin for the second run of the suite: only what behaves differently on another database is left in."""

import pytest

DATABASE_FIXTURES = frozenset({"db", "transactional_db", "django_db_reset_sequences", "live_server"})
DATABASE_MARKERS = ("django_db", "worker", "postgres")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept = [item for item in items if touches_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if not touches_database(item)])
    items[:] = kept


def touches_database(item: pytest.Item) -> bool:
    if any(item.get_closest_marker(name) for name in DATABASE_MARKERS):
        return True
    return not DATABASE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
