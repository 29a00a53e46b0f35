"""``/v1/events/stream`` and ``/live/``."""

import re
from typing import Any, Final

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET
from django_eventstream.utils import get_channelmanager, get_storage  # type: ignore[import-untyped]

from operations.access.actors import NotSignedIn, get_actor
from operations.access.refusals import refuse
from operations.eventlog import read_head
from operations.streaming.channel_manager import EVENTS, LIVE
from operations.streaming.frames import Batch, render_heartbeat, render_nudge, render_opening
from operations.streaming.storage import call_reader, read_page
from operations.streaming.stream import PAGE, EventStream

EVENT_ID: Final = re.compile(r"[0-9]{1,18}")
POLLING_HINT: Final = b": this server cannot hold a stream open; ask again with the last id\n\n"
HEADERS: Final = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    # Keeps GZipMiddleware away, which would hold frames back until its buffer is full.
    "Content-Encoding": "identity",
}


class InvalidEventId(ValueError):
    """The first argument names the header or parameter."""


@require_GET
async def stream_events(request: HttpRequest) -> HttpResponseBase:
    """The raw contract: every typed event once, in the order of its id."""
    return await open_stream(request, channel=EVENTS)


@require_GET
async def stream_nudges(request: HttpRequest) -> HttpResponseBase:
    """What pages listen to: the names of the regions that have become stale."""
    return await open_stream(request, channel=LIVE)


async def open_stream(request: HttpRequest, *, channel: str) -> HttpResponseBase:
    try:
        actor = await get_actor(request)
    except NotSignedIn:
        return refuse(request, status=401, error="not_signed_in", message="Sign in, or send an API token.")
    manager = get_channelmanager()
    (channel,) = manager.get_channels_for_request(request, {"channel": channel})
    if not manager.can_read_channel(actor.user, channel):
        return refuse(request, status=403, error="forbidden", message="This account may not read events.")
    try:
        after = read_resume_id(request)
    except InvalidEventId as error:
        message = f"{error} must be the id of an event: a number of at most 18 digits."
        return refuse(request, status=400, error="invalid_event_id", message=message)
    body: Any
    if isinstance(request, ASGIRequest):
        body = EventStream(channel, user_id=actor.user.pk, after=after)
        response: HttpResponseBase = StreamingHttpResponse(body, content_type="text/event-stream")
    else:
        body = await call_reader(render_poll, channel, after=after)
        response = HttpResponse(body, content_type="text/event-stream")
    for name, value in HEADERS.items():
        response[name] = value
    return response


def read_resume_id(request: HttpRequest) -> int | None:
    """The id after which to go on: the header that a reconnecting EventSource sends, then ``?since=``, then none.

    Raises:
        InvalidEventId: with the name of the one at fault.
    """
    for name, value in (("Last-Event-ID", request.headers.get("Last-Event-ID")), ("since", request.GET.get("since"))):
        if not value:
            continue
        if not EVENT_ID.fullmatch(value):
            raise InvalidEventId(name)
        return int(value)
    return None


def render_poll(channel: str, *, after: int | None) -> bytes:
    """Under WSGI: what is there, and the end. A client asks again after ``retry`` with the last id, missing nothing."""
    watermark: int = get_storage().get_current_id(channel)
    last_id = watermark if after is None or after > max(watermark, read_head()) else after
    opening = render_opening(last_id=last_id) + POLLING_HINT
    events = read_page(channel, after=last_id, until=watermark, limit=PAGE)
    if not events:
        return opening + render_heartbeat(watermark)
    batch = Batch(tuple(events))
    return opening + (render_nudge([batch]) if channel == LIVE else batch.raw)
