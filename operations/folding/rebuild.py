"""Full rebuild and verification: fold the log into scratch tables, then compare table by table.

Rebuild applies only the difference, in slices that each hold the writer briefly.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from operations.database import read_snapshot, writer
from operations.eventlog.log import iter_after
from operations.folding.engine import (
    FAILING,
    LIVE,
    REBUILDING,
    FoldFailed,
    RowCache,
    catch_up,
    ensure_watermarks,
    flag_app,
)
from operations.folding.registry import ProjectionTable, list_apps, list_tables
from operations.models import ProjectionWatermark

ATTEMPTS = 3
SLICE = 1000
PAGE = 2000
INTERRUPTED = "REBUILD_INTERRUPTED"

Progress = Callable[[str, int, int], None]


class RebuildOvertaken(Exception):
    """The tables were caught up by someone else while they were mended; what was compared no longer holds."""


@dataclass(slots=True)
class TableReport:
    """What one table lacked, held wrongly or held too much; digests are equal when all three are 0."""

    table: str
    rows: int = 0
    missing: int = 0
    differing: int = 0
    superfluous: int = 0
    digest: str = ""
    expected_digest: str = ""

    @property
    def is_clean(self) -> bool:
        return not (self.missing or self.differing or self.superfluous)


@dataclass(slots=True)
class ProjectionReport:
    """``behind`` counts, per flagged app, the events it has not folded yet."""

    events: int = 0
    tables: list[TableReport] = field(default_factory=list)
    flagged: dict[str, str] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        return all(table.is_clean for table in self.tables) and not self.flagged


def verify_projections(*, progress: Progress | None = None) -> ProjectionReport:
    """Compare every projection with a fresh fold of the log, each app at its own watermark."""
    report = ProjectionReport()
    with writer():
        ensure_watermarks()
    for app in list_apps():
        with Scratch(app) as scratch:
            scratch.fold_to(_watermark(app), progress=progress)
            with read_snapshot():
                mark = ProjectionWatermark.objects.get(app=app)
                scratch.fold_to(mark.last_event_id, progress=None)
                if mark.state != LIVE:
                    report.flagged[app] = mark.state
                for table in list_tables(app):
                    found = TableReport(table.name)
                    for _ in _iter_differences(table, scratch.name(table), found):
                        pass
                    report.tables.append(found)
            report.events = max(report.events, scratch.events)
    return report


def rebuild_projections(*, app: str | None = None, progress: Progress | None = None) -> ProjectionReport:
    """Rebuild the projections of one app, or of all; the report says what was wrong before.

    The app is flagged while its tables are mended: live folding leaves it alone and it catches up
    from the watermark at the end. Interrupted, it stays flagged and catches up at the worker's next heartbeat (killed:
    at its next start). A
    worker that starts meanwhile and catches up itself makes the app's rebuild begin again. Raises ``FoldFailed`` where
    a fold refuses an event of the log; that app is then failing and its tables are as they were.
    """
    report = ProjectionReport()
    for name in [app] if app else list_apps():
        for attempt in range(ATTEMPTS):
            try:
                _rebuild_app(name, report, progress)
                break
            except RebuildOvertaken:
                if attempt == ATTEMPTS - 1:
                    raise
    return report


def _rebuild_app(app: str, report: ProjectionReport, progress: Progress | None) -> None:
    with writer():
        ensure_watermarks()
        flag_app(app, state=REBUILDING)
    try:
        with Scratch(app) as scratch:
            tables = _mend(app, scratch, progress)
    except RebuildOvertaken:
        raise
    except BaseException as error:
        # Flagged as failing, the app goes on from its watermark at the next heartbeat instead of standing still.
        code, event_id = (error.code, error.event.id) if isinstance(error, FoldFailed) else (INTERRUPTED, 0)
        with writer():
            flag_app(app, state=FAILING, error_code=code, failed_event_id=event_id)
        raise
    report.tables.extend(tables)
    report.events = max(report.events, scratch.events)
    catch_up(app)


def _mend(app: str, scratch: "Scratch", progress: Progress | None) -> list[TableReport]:
    position = _watermark(app)
    scratch.fold_to(position, progress=progress)
    tables = []
    for table in list_tables(app):
        found = TableReport(table.name)
        _apply_differences(table, scratch.name(table), found, position)
        tables.append(found)
    return tables


def _watermark(app: str) -> int:
    return int(ProjectionWatermark.objects.values_list("last_event_id", flat=True).get(app=app))


class Scratch:
    """Temporary copies of one app's projection tables, filled from the log."""

    def __init__(self, app: str) -> None:
        self.app = app
        self.caches = {t.name: RowCache(t, target=self.name(t), limit=5000) for t in list_tables(app)}
        self.position = 0
        self.events = 0

    def name(self, table: ProjectionTable) -> str:
        return f"scratch_{table.name}"

    def __enter__(self) -> "Scratch":
        with connection.cursor() as cursor:
            for table in list_tables(self.app):
                name = self.name(table)
                cursor.execute(f"DROP TABLE IF EXISTS {name}")
                cursor.execute(f"CREATE TEMPORARY TABLE {name} AS SELECT * FROM {table.name} WHERE 1 = 0")
                cursor.execute(f"CREATE UNIQUE INDEX {name}_key ON {name} ({table.compiled.key})")
        return self

    def __exit__(self, *_: object) -> None:
        with connection.cursor() as cursor:
            for table in list_tables(self.app):
                cursor.execute(f"DROP TABLE IF EXISTS {self.name(table)}")

    def fold_to(self, until: int, *, progress: Progress | None) -> None:
        for events in iter_after(self.position, until=until, page=PAGE):
            for cache in self.caches.values():
                cache.ask(events)
                cache.fold()
            self.events += len(events)
            self.position = events[-1].id
            if progress:
                progress(self.app, self.position, until)
        self.position = max(self.position, until)
        for cache in self.caches.values():
            cache.write_back()


Difference = tuple[Any, tuple[Any, ...] | None]


def _iter_differences(table: ProjectionTable, scratch: str, found: TableReport) -> Iterator[Difference]:
    """(key, expected values or ``None``) for each row that is not as the log says; counts as it goes."""
    live_digest = expected_digest = 0
    for key, live, expected in _merge(table, scratch):
        if live is not None:
            found.rows += 1
            live_digest = (live_digest + _digest_row(live)) % 2**256
        if expected is not None:
            expected_digest = (expected_digest + _digest_row(expected)) % 2**256
        if live == expected:
            continue
        if live is None:
            found.missing += 1
        elif expected is None:
            found.superfluous += 1
        else:
            found.differing += 1
        yield key, expected
    found.digest, found.expected_digest = f"{live_digest:064x}", f"{expected_digest:064x}"


def _digest_row(values: tuple[Any, ...]) -> int:
    return int.from_bytes(hashlib.sha256(repr(values).encode()).digest(), "big")


def _merge(
    table: ProjectionTable, scratch: str
) -> Iterator[tuple[Any, tuple[Any, ...] | None, tuple[Any, ...] | None]]:
    """Walk both tables in key order, page by page."""
    live, expected = _iter_rows(table, None), _iter_rows(table, scratch)
    left, right = next(live, None), next(expected, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left[0] < right[0]):
            assert left is not None
            yield left[0], left[1:], None
            left = next(live, None)
        elif left is None or right[0] < left[0]:
            yield right[0], None, right[1:]
            right = next(expected, None)
        else:
            yield left[0], left[1:], right[1:]
            left, right = next(live, None), next(expected, None)


def _iter_rows(table: ProjectionTable, name: str | None) -> Iterator[tuple[Any, ...]]:
    after: object | None = None
    while True:
        page = table.compiled.select_page(after, limit=SLICE, table=name)
        yield from page
        if len(page) < SLICE:
            return
        after = page[-1][0]


def _apply_differences(table: ProjectionTable, scratch: str, found: TableReport, position: int) -> None:
    batch: list[Difference] = []
    for difference in _iter_differences(table, scratch, found):
        batch.append(difference)
        if len(batch) == SLICE:
            _write_slice(table, batch, position)
            batch = []
    _write_slice(table, batch, position)


def _write_slice(table: ProjectionTable, batch: list[Difference], position: int) -> None:
    if not batch:
        return
    with writer():
        if not ProjectionWatermark.objects.filter(app=table.app, state=REBUILDING, last_event_id=position).exists():
            raise RebuildOvertaken
        table.compiled.upsert_values([values for _, values in batch if values is not None])
        if gone := [key for key, values in batch if values is None]:
            table.compiled.delete_keys(gone)
