"""The one reader of new events in a web process, alive while anybody listens."""

import logging
import threading
from typing import Final

from django.db import DatabaseError, InterfaceError, connections
from django_eventstream.event import Event  # type: ignore[import-untyped]
from django_eventstream.views import get_listener_manager  # type: ignore[import-untyped]

from operations.folding.engine import list_flagged_apps, read_stream_watermark
from operations.streaming.channel_manager import EVENTS, LIVE
from operations.streaming.frames import Batch
from operations.streaming.listeners import StreamListener
from operations.streaming.storage import read_page
from operations.streaming.watching import open_watch

log = logging.getLogger(__name__)

PAGE: Final = 500
RETRY_SECONDS: Final = 0.5
REFRESH: Final = "refresh"


class Tailer:
    """A thread that publishes every event after ``position`` once, in id order, up to the stream's watermark.

    ``position`` moves before a batch is published and ``watermark`` after it: a listener that joins reads from storage
    up to ``position`` and gets the rest through its queue, and a heartbeat never runs ahead of what was queued.
    """

    def __init__(self) -> None:
        self.watermark = self.position = read_stream_watermark()
        self._flagged = set(list_flagged_apps())
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stream-tailer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns at once; the thread closes its connection and ends within a moment."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                watch = open_watch()
                while not self._stopping.is_set():
                    self._publish_new()
                    watch.wait(self._stopping)
            except Exception as error:
                known = isinstance(error, DatabaseError | InterfaceError)
                log.warning("the event stream reads again in %s s: %s", RETRY_SECONDS, error, exc_info=not known)
                self._stopping.wait(RETRY_SECONDS)
            finally:
                connections.close_all()

    def _publish_new(self) -> None:
        flagged = set(list_flagged_apps())
        watermark = read_stream_watermark()
        while self.position < watermark and not self._stopping.is_set():
            events = read_page(EVENTS, after=self.position, until=watermark, limit=PAGE)
            batch = Batch(tuple(events)) if events else None
            self.position = events[-1].id if len(events) == PAGE else watermark
            for channel in (EVENTS, LIVE) if batch else ():
                publish(channel, Event(channel, "batch", batch, id=events[-1].id))
        self.watermark = max(self.watermark, watermark)
        if self._flagged - flagged:
            # Rows that pages were told about while their app was flagged have changed only now.
            publish(LIVE, Event(LIVE, REFRESH, None, id=self.position))
        self._flagged = flagged


def publish(channel: str, event: Event) -> None:
    get_listener_manager().add_to_queues(channel, event)


_lock = threading.Lock()
_listening: set[StreamListener] = set()
_tailer: Tailer | None = None


def join(listener: StreamListener) -> Tailer | None:
    """Begin to queue for a listener, starting the tailer for the first one; reads the database.

    ``None`` where the listener has left meanwhile: its client went while this waited for a thread.
    """
    global _tailer
    # Read before the lock is taken: the event loop waits for it when a client leaves.
    started = None if _tailer is not None else Tailer()
    with _lock:
        if listener.has_left:
            return None
        if _tailer is None:
            _tailer = started or Tailer()
            _tailer.start()
        get_listener_manager().add_listener(listener)
        _listening.add(listener)
        return _tailer


def leave(listener: StreamListener) -> None:
    """Idempotent, from any thread; the last one to leave stops the tailer."""
    global _tailer
    with _lock:
        listener.has_left = True
        if listener not in _listening:
            return
        _listening.remove(listener)
        get_listener_manager().remove_listener(listener)
        if not _listening and _tailer is not None:
            _tailer.stop()
            _tailer = None


def count_listeners() -> dict[str, int]:
    """This process's open streams by channel."""
    with _lock:
        joined = [listener.channel for listener in _listening]
    return {channel: joined.count(channel) for channel in (EVENTS, LIVE)}


def measure_lag() -> int:
    """Event ids that may be shown and that this process has not handed to its streams yet; 0 while nobody listens."""
    with _lock:
        tailer = _tailer
    return 0 if tailer is None else max(0, read_stream_watermark() - tailer.position)
