"""The bytes of an event stream (WHATWG HTML, "Server-sent events"), and the batch they are made of."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from operations.eventlog import LoggedEvent
from operations.live_regions import list_stale_regions

RETRY_MILLISECONDS: Final = 5000
FAREWELL_RETRY_MILLISECONDS: Final = 100
COMMENT: Final = b": keep-alive\n\n"
#: A nudge that names more regions than this costs a page more than fetching what it shows.
REGION_LIMIT: Final = 500


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that the tailer read together, oldest first; made once and shared by every listener."""

    events: tuple[LoggedEvent, ...]
    raw: bytes = field(init=False)
    regions: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "raw", render_events(self.events))
        object.__setattr__(self, "regions", tuple(list_stale_regions(self.events)))

    @property
    def first_id(self) -> int:
        return self.events[0].id

    @property
    def last_id(self) -> int:
        return self.events[-1].id

    def select_after(self, last_id: int) -> "Batch":
        """This batch without what a listener has already sent."""
        if self.first_id > last_id:
            return self
        return Batch(tuple(event for event in self.events if event.id > last_id))


def render_opening(*, last_id: int | None) -> bytes:
    """``last_id`` gives a client that starts at the tail something to resume from before its first event."""
    opening = f"retry: {RETRY_MILLISECONDS}\n"
    return (opening + (f"id: {last_id}\n" if last_id is not None else "") + "\n").encode()


def render_farewell() -> bytes:
    """Sent before a stream ends by itself: come back at once."""
    return f"retry: {FAREWELL_RETRY_MILLISECONDS}\n\n".encode()


def render_event(event: LoggedEvent) -> bytes:
    return render_frame(event.type, event.payload, event_id=event.id)


def render_events(events: Iterable[LoggedEvent]) -> bytes:
    return b"".join(map(render_event, events))


def render_nudge(batches: Sequence[Batch]) -> bytes:
    """One nudge for all of them, or a reset where it would name too much."""
    regions = sorted({region for batch in batches for region in batch.regions})
    if len(regions) > REGION_LIMIT:
        return render_reset("much_has_changed", event_id=batches[-1].last_id)
    return render_frame("nudge", {"regions": regions}, event_id=batches[-1].last_id)


def render_heartbeat(watermark: int) -> bytes:
    return render_frame("heartbeat", {"watermark": watermark})


def render_reset(reason: str, *, event_id: int | None = None) -> bytes:
    """``event_id`` only where nothing before it has to be sent again."""
    return render_frame("reset", {"reason": reason}, event_id=event_id)


def render_frame(name: str, data: dict[str, Any], *, event_id: int | None = None) -> bytes:
    head = f"id: {event_id}\n" if event_id is not None else ""
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"{head}event: {name}\ndata: {body}\n\n".encode()
