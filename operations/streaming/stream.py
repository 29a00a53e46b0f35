"""One client's stream, from where it left off to the tail and on."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Any, Final

from asgiref.sync import SyncToAsync, sync_to_async
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections

from operations.eventlog import LoggedEvent, read_head
from operations.streaming.channel_manager import LIVE
from operations.streaming.frames import (
    COMMENT,
    Batch,
    render_farewell,
    render_heartbeat,
    render_nudge,
    render_opening,
    render_reset,
)
from operations.streaming.listeners import StreamListener
from operations.streaming.resets import LONG_GAP, SLOW_CLIENT, note_reset
from operations.streaming.storage import call_reader, read_page
from operations.streaming.tailer import REFRESH, Tailer, join, leave

log = logging.getLogger(__name__)

PAGE: Final = 500
#: A page that missed more than this fetches what it shows instead of being told what of it is stale.
NUDGED_GAP: Final = 200
#: A write that took longer while the queue overflowed: the client is slow, not this process.
SLOW_SECONDS: Final = 1.0
#: After this a client is let in anew by reconnecting, so that no stream outlives its session or token for long.
LIFE_SECONDS: Final = 900.0


class Timers:
    """When a comment and a heartbeat are due; both run by the clock, whatever else is sent."""

    def __init__(self, now: float) -> None:
        self.comment_at = now + settings.JOBCTRL_STREAM_COMMENT_SECONDS
        self.heartbeat_at = now + settings.JOBCTRL_STREAM_HEARTBEAT_SECONDS

    def get_next(self) -> float:
        return float(min(self.comment_at, self.heartbeat_at))

    def render_due(self, now: float, watermark: int) -> bytes:
        due = b""
        if now >= self.comment_at:
            self.comment_at = now + settings.JOBCTRL_STREAM_COMMENT_SECONDS
            due += COMMENT
        if now >= self.heartbeat_at:
            self.heartbeat_at = now + settings.JOBCTRL_STREAM_HEARTBEAT_SECONDS
            due += render_heartbeat(watermark)
        return due


class EventStream:
    """The body of a streaming response; ``close()``, called by Django however the request ends, lets go of everything.

    ``after`` is the id that the client has seen last; ``None`` begins at the tail.
    """

    def __init__(self, channel: str, *, user_id: Any, after: int | None) -> None:
        self.channel = channel
        self.after = after
        self.listener = StreamListener(channel, user_id=user_id)
        self.last_id = 0
        self.sent_in = 0.0  # seconds that the client took for the last chunk

    def close(self) -> None:
        leave(self.listener)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            await release_request_thread()
            self.listener.assign_loop()
            tailer = await call_reader(join, self.listener)
            if tailer is None:
                return
            yield await self._open(tailer)
            async for chunk in self._follow(tailer):
                started = time.monotonic()
                yield chunk
                self.sent_in = time.monotonic() - started
        except (DatabaseError, InterfaceError) as error:
            # The client comes back with its last id in five seconds.
            log.warning("a stream ended: %s", error)
        finally:
            self.close()

    async def _open(self, tailer: Tailer) -> bytes:
        is_known = self.after is not None and (
            self.after <= tailer.position or self.after <= await call_reader(read_head)
        )
        if self.after is not None and is_known:
            self.last_id = self.after
            return render_opening(last_id=None)
        self.last_id = tailer.position
        return render_opening(last_id=self.last_id)

    async def _follow(self, tailer: Tailer) -> AsyncIterator[bytes]:
        timers = Timers(time.monotonic())
        ends_at = time.monotonic() + LIFE_SECONDS
        # A long backlog may be read at any pace; a client that has fallen behind later may not.
        patience = stall = settings.JOBCTRL_STREAM_STALL_SECONDS
        while time.monotonic() < ends_at:
            # Storage first: a page of it is also how a queue that has overflowed is made up for.
            while self.last_id < (until := tailer.position):
                if self.sent_in >= patience:
                    yield self._drop()
                    return
                if chunk := await self._catch_up(until):
                    yield chunk
                if chunk := timers.render_due(time.monotonic(), self.last_id):
                    yield chunk
            has_overflowed = False
            while not has_overflowed and time.monotonic() < ends_at:
                await self._wait_until(timers.get_next())
                watermark = tailer.watermark
                items, has_overflowed, is_kicked = self.listener.take()
                if is_kicked:
                    return
                chunk = self._render(items)
                if has_overflowed:
                    patience = SLOW_SECONDS
                if self.sent_in >= (patience if has_overflowed else stall):
                    yield chunk + self._drop()
                    return
                if not has_overflowed:
                    chunk += timers.render_due(time.monotonic(), watermark)
                if chunk:
                    yield chunk
        yield render_farewell()

    def _drop(self) -> bytes:
        """The last a slow client gets; it comes back with its last id."""
        note_reset(self.channel, SLOW_CLIENT)
        return render_reset(SLOW_CLIENT)

    async def _wait_until(self, moment: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, moment - time.monotonic())):
                await self.listener.aevent.wait()
        except TimeoutError:
            return

    async def _catch_up(self, until: int) -> bytes:
        limit = NUDGED_GAP + 1 if self.channel == LIVE else PAGE
        events: list[LoggedEvent] = await call_reader(
            read_page, self.channel, after=self.last_id, until=until, limit=limit
        )
        if self.channel == LIVE and len(events) > NUDGED_GAP:
            self.last_id = until
            note_reset(self.channel, LONG_GAP)
            return render_reset(LONG_GAP, event_id=until)
        self.last_id = events[-1].id if len(events) == limit else until
        return self._render_batches([Batch(tuple(events))] if events else [])

    def _render(self, items: list[Any]) -> bytes:
        """What of the queued items this client has not had yet."""
        batches = [item.data for item in items if item.type != REFRESH and item.id > self.last_id]
        chunk = self._render_batches([batch.select_after(self.last_id) for batch in batches])
        if batches:
            self.last_id = batches[-1].last_id
        if any(item.type == REFRESH for item in items):
            chunk += render_reset("projections_current", event_id=self.last_id)
        return chunk

    def _render_batches(self, batches: list[Batch]) -> bytes:
        if not batches:
            return b""
        if self.channel == LIVE:
            return render_nudge(batches)
        return b"".join(batch.raw for batch in batches)


async def release_request_thread() -> None:
    """End the thread that Django keeps for a request's synchronous parts, with its database connections.

    Each request has its own, and a stream's would idle for as long as the stream is open.
    """
    context = SyncToAsync.thread_sensitive_context.get(None)
    if context is None or context not in SyncToAsync.context_to_thread_executor:
        return
    await sync_to_async(connections.close_all)()
    executor: Any = SyncToAsync.context_to_thread_executor.pop(context, None)
    if executor is not None:
        executor.shutdown(wait=False)
