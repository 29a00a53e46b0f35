"""Which regions of the pages an event makes stale, declared by each app's ``live.py``.

A region is one word in four places (template, element id, URL name, nudge): ``run-row:<id>`` for one row,
``runs-list`` for a list. A nudge carries names, never state; the page refetches those that it shows.
"""

import logging
from collections.abc import Callable, Iterable

from operations.eventlog import LoggedEvent, list_event_types

log = logging.getLogger(__name__)

Handler = Callable[[LoggedEvent], Iterable[str]]

_handlers: dict[str, list[Handler]] = {}
_shown_nowhere: set[str] = set()


def stale(*event_types: str) -> Callable[[Handler], Handler]:
    """Declare what these event types make stale; a type may have several handlers, of several apps."""

    def register(handler: Handler) -> Handler:
        for name in event_types:
            _handlers.setdefault(name, []).append(handler)
        return handler

    return register


def no_page(*event_types: str) -> None:
    """Declare that no page shows these event types (the activity list shows every one of them)."""
    _shown_nowhere.update(event_types)


def list_stale_regions(events: Iterable[LoggedEvent]) -> list[str]:
    """The regions that these events make stale, each once, sorted. A handler that raises is logged and skipped."""
    regions: set[str] = set()
    for event in events:
        regions.add("activity-list")
        for handler in _handlers.get(event.type, ()):
            try:
                regions.update(handler(event))
            except Exception:
                log.exception("no regions for %s #%d", event.type, event.id)
    return sorted(regions)


def list_undeclared_types() -> list[str]:
    """Registered event types that no ``live.py`` has spoken about."""
    return [name for name in list_event_types() if name not in _handlers and name not in _shown_nowhere]


def list_unknown_types() -> list[str]:
    """Names in a ``live.py`` that are no registered event type."""
    return sorted((_handlers.keys() | _shown_nowhere) - set(list_event_types()))


def list_contradictions() -> list[str]:
    """Types declared both as stale somewhere and as shown nowhere."""
    return sorted(_handlers.keys() & _shown_nowhere)


def name_job_regions(event: LoggedEvent) -> tuple[str, ...]:
    """Everything that shows one job: its row, its page, the lists and figures it counts in."""
    return (f"job-row:{event.job_id}", f"job:{event.job_id}", "jobs-list", "dashboard")


def name_run_regions(event: LoggedEvent) -> tuple[str, ...]:
    """Everything that shows one run: its row, its page, the lists and figures it counts in."""
    return (f"run-row:{event.run_id}", f"run:{event.run_id}", "runs-list", "dashboard", "topbar")
