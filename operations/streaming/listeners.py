"""One client of a stream, as the listener manager sees it."""

from contextlib import suppress
from typing import Any

from django_eventstream.event import Event  # type: ignore[import-untyped]
from django_eventstream.views import Listener, get_listener_manager  # type: ignore[import-untyped]


class StreamListener(Listener):  # type: ignore[misc]
    """Holds at most ``MAX_PENDING`` batches; what does not fit sets ``overflow`` and is read from storage later."""

    channel_items: dict[str, list[Event]]
    overflow: bool
    error: Any

    def __init__(self, channel: str, *, user_id: Any) -> None:
        super().__init__()
        self.channel = channel
        self.channels = {channel}
        self.user_id = user_id
        self.has_left = False

    def wake_threadsafe(self) -> None:
        with suppress(RuntimeError):  # its loop is closed: the process is ending
            super().wake_threadsafe()

    def take(self) -> tuple[list[Event], bool, bool]:
        """What is queued, whether something did not fit, and whether this client must go; empties the queue."""
        with get_listener_manager().lock:
            items = self.channel_items.get(self.channel, [])
            overflow, is_kicked = self.overflow, bool(self.error)
            self.channel_items, self.overflow = {}, False
            self.aevent.clear()
        return items, overflow, is_kicked
