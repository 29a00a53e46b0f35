"""django-eventstream's storage (``EVENTSTREAM_STORAGE_CLASS``): the event log itself."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import connections
from django_eventstream.event import Event  # type: ignore[import-untyped]
from django_eventstream.storage import StorageBase  # type: ignore[import-untyped]

from operations.eventlog import LoggedEvent, read_after
from operations.folding.engine import read_stream_watermark

#: Resume reads of all clients of this process; a crowd that reconnects waits here, not at the database.
READERS: Final = 2

_readers = ThreadPoolExecutor(READERS, thread_name_prefix="stream-reader")

P = ParamSpec("P")
T = TypeVar("T")


class JobEventStorage(StorageBase):  # type: ignore[misc]
    """Reads ``job_events``; services append to it, inside ``writer()``. ``Event.data`` is the ``LoggedEvent``."""

    def append_event(self, channel: str, event_type: str, data: Any) -> Event:
        raise NotImplementedError("events are appended by services, with operations.eventlog.append")

    def get_events(self, channel: str, last_id: int, limit: int = 100, *, until: int | None = None) -> list[Event]:
        """The next typed events after an id, oldest first, up to ``until`` (the watermark): one bounded page."""
        mark = self.get_current_id(channel) if until is None else until
        return [
            Event(channel, event.type, event, id=event.id)
            for event in read_after(last_id, limit=limit)
            if event.id <= mark
        ]

    def get_current_id(self, channel: str) -> int:
        return read_stream_watermark()


def read_page(channel: str, *, after: int, until: int, limit: int) -> list[LoggedEvent]:
    return [event.data for event in JobEventStorage().get_events(channel, after, limit, until=until)]


async def call_reader(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run database work in one of the few reader threads, which keeps no connection afterwards."""

    def call() -> T:
        try:
            return function(*args, **kwargs)
        finally:
            connections.close_all()

    return await sync_to_async(call, thread_sensitive=False, executor=_readers)()
