"""The one batch fold, and its live use at the end of every ``writer()``."""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from django.db import connection, transaction

from operations.database import OUTAGES, Write, before_commit, current_write, in_one_trip, uses_postgres, writer
from operations.eventlog.log import read_after, read_head
from operations.eventlog.registry import LoggedEvent
from operations.folding.registry import FoldRule, ProjectionTable, list_apps, list_tables
from operations.folding.table import Stored, Written, check_written
from operations.models import ProjectionWatermark

log = logging.getLogger(__name__)

Touch = tuple[FoldRule, LoggedEvent, object]  # the event, and the key of the row that it changes

LIVE = "live"
FAILING = "failing"
REBUILDING = "rebuilding"
CATCH_UP_SLICE = 1000


class FoldFailed(Exception):
    """A fold raised for one event; carries where, never the exception's text."""

    def __init__(self, table: str, event: LoggedEvent, error: Exception) -> None:
        self.event = event
        self.code = f"{table}:{event.type}:{type(error).__name__}"[:80]
        super().__init__(self.code)


class RowCache:
    """Rows of one projection table, bounded; dirty ones are written back in slices.

    A live row that was there before is written in the columns that changed: each column named in a statement costs
    every index that holds it. A rebuild's ``target`` has few indexes, and its rows are written whole.
    """

    def __init__(self, table: ProjectionTable, *, target: str | None = None, limit: int = 4000) -> None:
        self.table = table
        self.target = target
        self.limit = limit
        self.rows: dict[object, Any] = {}
        self.stored: dict[object, Stored] = {}
        self.dirty: set[object] = set()
        self._touched: list[Touch] = []
        self._asked: list[Any] = []

    def ask(self, events: Sequence[LoggedEvent]) -> None:
        """Send for the rows that these events change, so that ``fold`` of them need not wait."""
        rules = self.table.rules
        found = [(rule, event, self._key_of(rule, event)) for event in events if (rule := rules.get(event.type))]
        self._touched = [touch for touch in found if touch[2] is not None]
        missing = {key for _, _, key in self._touched if key not in self.rows}
        if len(self.rows) + len(missing) > self.limit:
            self.write_back()
            self.rows.clear()
            self.stored.clear()
            missing = {key for _, _, key in self._touched}
        self._asked = self.table.compiled.ask(missing, table=self.target)

    def fold(self) -> None:
        """What was asked for last, into the rows."""
        for key, row, stored in self.table.compiled.load(self._asked):
            self.rows[key] = row
            if self.target is None:
                self.stored[key] = stored
        touched, self._touched, self._asked = self._touched, [], []
        rows, dirty, new_row = self.rows, self.dirty, self.table.compiled.new_row
        for rule, event, key in touched:
            row = rows.get(key)
            if row is None:
                row = rows[key] = new_row(key, event.tenant_id)
            try:
                rule.apply(row, event)
            except Exception as error:
                raise FoldFailed(self.table.name, event, error) from None
            dirty.add(key)

    def _key_of(self, rule: FoldRule, event: LoggedEvent) -> object:
        try:
            return rule.key_of(event)
        except Exception as error:
            raise FoldFailed(self.table.name, event, error) from None

    def write_back(self) -> list[Written]:
        """What was written to rows that must be there, for ``check_written``."""
        known = self.dirty & self.stored.keys()
        compiled = self.table.compiled
        compiled.upsert([self.rows[key] for key in self.dirty - known], table=self.target)
        written = compiled.update_changed([(self.rows[key], self.stored.pop(key)) for key in known])
        self.dirty.clear()
        return written


def apply_batch(events: Sequence[LoggedEvent], tables: Iterable[ProjectionTable]) -> None:
    """Fold a batch into live tables, all of it or nothing; the caller holds the writer and moves the watermark."""
    caches = [RowCache(table) for table in tables if any(event.type in table.rules for event in events)]
    if not caches:
        return
    before = ""
    try:
        with in_one_trip():
            before = transaction.savepoint()  # released by the commit
            for cache in caches:
                cache.ask(events)
        for cache in caches:
            cache.fold()
        with in_one_trip():
            written = [write for cache in caches for write in cache.write_back()]
        check_written(written)
    except OUTAGES:  # whoever opened the transaction gives it up
        raise
    except Exception:
        transaction.savepoint_rollback(before)
        raise


def fold_batch(app: str, events: Sequence[LoggedEvent]) -> None:
    """``apply_batch`` to all of an app's tables. Raises ``FoldFailed`` with an event at fault, not always the first."""
    try:
        apply_batch(events, list_tables(app))
    except (FoldFailed, *OUTAGES):
        raise
    except Exception as error:
        # A row that the table refuses shows only when its batch is written: find whose it is.
        raise _find_fault(app, events) or FoldFailed(app, events[0], error) from None


def _find_fault(app: str, events: Sequence[LoggedEvent]) -> FoldFailed | None:
    try:
        with transaction.atomic():
            for event in events:
                for table in list_tables(app):
                    _fold_one(table, event)
            transaction.set_rollback(True)
    except FoldFailed as failure:
        return failure
    return None


def _fold_one(table: ProjectionTable, event: LoggedEvent) -> None:
    try:
        with transaction.atomic():  # releases the savepoint, of which there is one for each event here
            apply_batch([event], [table])
    except (FoldFailed, *OUTAGES):
        raise
    except Exception as error:
        raise FoldFailed(table.name, event, error) from None


@before_commit
def fold_live(write: Write) -> Callable[[], None] | None:
    """Fold this transaction's events for every app that is not flagged.

    A fold that raises loses nothing: its app is flagged, the event stays, the others go on.
    """
    if not write.events:
        return None
    events = cast(list[LoggedEvent], write.events)
    apps = list_apps()
    read_live = _move_watermarks(apps, events[-1].id)
    return lambda: _fold_into(events, apps, read_live())


def _fold_into(events: Sequence[LoggedEvent], apps: Sequence[str], live: set[str]) -> None:
    if not live.issuperset(apps) and not _read_states().keys() >= set(apps):
        ensure_watermarks()
        live = _move_watermarks(apps, events[-1].id)()
    for app in apps:
        if app not in live:
            continue
        try:
            fold_batch(app, events)
        except FoldFailed as failure:
            flag_app(app, state=FAILING, error_code=failure.code, failed_event_id=failure.event.id)
            # Where a live app stood before this transaction, whose events are all that come after it.
            ProjectionWatermark.objects.filter(app=app).update(last_event_id=events[0].id - 1)


def _move_watermarks(apps: Sequence[str], event_id: int) -> Callable[[], set[str]]:
    """Gives a function to call when the trip is over: it says which of the apps are live, all of which are now said to
    have folded up to here.

    The mark of an app that is not installed any more stays where it is: nothing of it is folded.
    """
    marks = ", ".join(["%s"] * len(apps))
    cursor = connection.cursor()
    cursor.execute(
        f"UPDATE projection_watermarks SET last_event_id = %s WHERE state = %s AND app IN ({marks}) RETURNING app",
        [event_id, LIVE, *apps],
    )
    if uses_postgres():
        return lambda: {app for (app,) in cursor.fetchall()}
    live = {app for (app,) in cursor.fetchall()}  # SQLite opens no savepoint while somebody has still to read
    return lambda: live


def _read_states() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, state FROM projection_watermarks")
        return dict(cursor.fetchall())


def ensure_watermarks() -> None:
    """Make the missing watermark rows: live where nothing below them is to be folded, else flagged to catch up."""
    first = _find_first()
    write = _first_event_of_write()
    for app in list_apps():
        nothing_before = first is None or (write is not None and first >= write)
        ProjectionWatermark.objects.get_or_create(app=app, defaults={"state": LIVE if nothing_before else "new"})


def _find_first() -> int | None:
    """The first event that is folded at all; markers are not."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT MIN(id) FROM job_events WHERE typed")
        (first,) = cursor.fetchone()
    return None if first is None else int(first)


def _first_event_of_write() -> int | None:
    write = current_write()
    if write is None or not write.events:
        return None
    return cast(LoggedEvent, write.events[0]).id


def flag_app(app: str, *, state: str, error_code: str = "", failed_event_id: int = 0) -> None:
    """Take an app's projections out of live folding; visible in health until it has caught up."""
    if state == FAILING:
        log.error("projections of %s are failing (%s at event %d)", app, error_code, failed_event_id)
    else:
        log.info("projections of %s are %s", app, state)
    ProjectionWatermark.objects.filter(app=app).update(
        state=state, error_code=error_code, failed_event_id=failed_event_id
    )


def catch_up(app: str) -> int:
    """Fold what a flagged app has missed, in slices that each hold the writer briefly.

    Returns the number of events folded. Stops, still flagged, where a fold raises again.
    """
    folded = 0
    if _read_states().get(app) == LIVE:
        return folded
    while True:
        with writer():
            ensure_watermarks()
            mark = ProjectionWatermark.objects.get(app=app)
            if mark.state == LIVE:
                return folded
            events = read_after(mark.last_event_id, limit=CATCH_UP_SLICE)
            try:
                fold_batch(app, events)
            except FoldFailed as failure:
                _fold_up_to_failure(app, events, failure)
                return folded
            folded += len(events)
            done = len(events) < CATCH_UP_SLICE
            ProjectionWatermark.objects.filter(app=app).update(
                last_event_id=max(read_head() if done else events[-1].id, mark.last_event_id),
                **({"state": LIVE, "error_code": "", "failed_event_id": 0} if done else {}),
            )
            if done:
                return folded


def _fold_up_to_failure(app: str, events: list[LoggedEvent], failure: FoldFailed) -> None:
    """What lies below the fault, in which another table may find an earlier one."""
    while good := [event for event in events if event.id < failure.event.id]:
        try:
            fold_batch(app, good)
        except FoldFailed as earlier:
            failure = earlier
        else:
            ProjectionWatermark.objects.filter(app=app).update(last_event_id=good[-1].id)
            break
    flag_app(app, state=FAILING, error_code=failure.code, failed_event_id=failure.event.id)


def list_failing_apps() -> list[str]:
    """Flagged apps that nobody is working on: a rebuild catches up by itself when it has ended."""
    rebuilding = set(ProjectionWatermark.objects.filter(state=REBUILDING).values_list("app", flat=True))
    return [app for app in list_flagged_apps() if app not in rebuilding]


def list_flagged_apps() -> list[str]:
    """Apps whose projections are not current: failing, rebuilding, or never folded over an existing log."""
    marks = dict(ProjectionWatermark.objects.values_list("app", "state"))
    if not marks.keys() >= set(list_apps()) and _find_first():
        return [app for app in list_apps() if marks.get(app) != LIVE]
    return [app for app in list_apps() if marks.get(app, LIVE) != LIVE]


def read_stream_watermark() -> int:
    """The id up to which every app that is not flagged has folded: what the event stream may show.

    The head where every app is flagged: the stream goes on, as the log does.
    """
    marks = list(ProjectionWatermark.objects.filter(app__in=list_apps()).values_list("state", "last_event_id"))
    current = [last_event_id for state, last_event_id in marks if state == LIVE]
    if marks and not current:
        return read_head()
    return min(current, default=0)
