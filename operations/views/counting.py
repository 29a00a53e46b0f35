"""Counts that no table can make slow."""

from typing import Any, Final

COUNT_LIMIT: Final = 1000


def count_up_to(rows: Any, *, key: str = "job_id") -> str:
    """A count that never reads more than a thousand rows: "61", "1,000+"."""
    count = rows.order_by().values(key)[: COUNT_LIMIT + 1].count()
    return f"{COUNT_LIMIT:,}+" if count > COUNT_LIMIT else f"{count:,}"
