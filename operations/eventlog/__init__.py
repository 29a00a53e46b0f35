"""The append-only event log: typed registry, appending, reading, guards."""

from operations.eventlog.log import append, append_all, append_marker, read_after, read_head
from operations.eventlog.registry import (
    Event,
    EventType,
    JobEvent,
    LoggedEvent,
    UnknownEvent,
    event,
    find_event_type,
    list_event_types,
    upcaster,
)

__all__ = [
    "Event", "EventType", "JobEvent", "LoggedEvent", "UnknownEvent", "append", "append_all", "append_marker", "event",
    "find_event_type", "list_event_types", "read_after", "read_head", "upcaster",
]  # fmt: skip
