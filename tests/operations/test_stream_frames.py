"""The bytes of the stream, its resume rule, and the answers of servers and middleware around it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.middleware.gzip import GZipMiddleware
from django.test import AsyncRequestFactory, Client, RequestFactory, override_settings
from django_eventstream.utils import get_channelmanager, get_storage  # type: ignore[import-untyped]
from django_eventstream.views import get_listener_manager  # type: ignore[import-untyped]

from operations.access.accounts import ensure_operator
from operations.access.actors import Actor
from operations.database import writer
from operations.eventlog import LoggedEvent, append, read_after
from operations.events import SettingsChanged
from operations.streaming import frames
from operations.streaming.channel_manager import SignedInChannelManager, close_streams
from operations.streaming.checks import check_middleware
from operations.streaming.listeners import StreamListener
from operations.streaming.storage import JobEventStorage
from operations.streaming.stream import EventStream
from operations.streaming.views import InvalidEventId, read_resume_id, stream_events


def log_event(event_id: int, *, type: str = "SettingsChanged", **payload: Any) -> LoggedEvent:
    return LoggedEvent(event_id, type, "local", None, "", "", payload, datetime(2026, 11, 29, tzinfo=UTC))


def test_it_writes_an_event_as_one_block_of_three_lines() -> None:
    event = log_event(41, actor="Zoë\r\nevent: forged\n\nid: 9")

    assert frames.render_event(event).decode() == (
        "id: 41\nevent: SettingsChanged\n"
        'data: {"actor":"Zoë\\r\\nevent: forged\\n\\nid: 9"}\n\n'
    )  # fmt: skip


def test_it_opens_with_the_retry_time_and_an_id_only_at_the_tail() -> None:
    assert frames.render_opening(last_id=None) == b"retry: 5000\n\n"
    assert frames.render_opening(last_id=7) == b"retry: 5000\nid: 7\n\n"
    assert frames.render_heartbeat(45) == b'event: heartbeat\ndata: {"watermark":45}\n\n'


def test_it_leaves_out_of_a_batch_what_a_client_has_had() -> None:
    batch = frames.Batch(tuple(log_event(number) for number in (5, 6, 9)))

    assert batch.select_after(4) is batch
    assert [event.id for event in batch.select_after(6).events] == [9]


def test_it_resets_instead_of_naming_hundreds_of_regions() -> None:
    few = frames.Batch((log_event(1), log_event(2)))
    many = frames.Batch(
        tuple(log_event(number, type="WorkflowStarted") for number in range(3, 8)),
    )
    object.__setattr__(many, "regions", tuple(f"job-row:{number}" for number in range(frames.REGION_LIMIT)))

    assert frames.render_nudge([few]).startswith(b"id: 2\nevent: nudge\n")
    assert frames.render_nudge([few, many]).startswith(b"id: 7\nevent: reset\n")


@pytest.mark.parametrize(
    ("header", "since", "expected"),
    [
        ("41", "", 41),
        ("41", "7", 41),
        ("", "7", 7),
        ("", "", None),
        (None, "0", 0),
        ("007", None, 7),
        ("9" * 18, None, 10**18 - 1),
    ],
)
def test_it_takes_the_header_before_the_parameter(header: str | None, since: str | None, expected: int | None) -> None:
    assert read_resume_id(build_request(header, since)) == expected


@pytest.mark.parametrize(
    ("header", "since", "name"),
    [("x", "7", "Last-Event-ID"), ("-1", None, "Last-Event-ID"), (None, "1e3", "since"), (None, "9" * 5000, "since")],
)
def test_it_names_the_id_at_fault(header: str | None, since: str | None, name: str) -> None:
    with pytest.raises(InvalidEventId, match=f"^{name}$"):
        read_resume_id(build_request(header, since))


def build_request(header: str | None, since: str | None) -> HttpRequest:
    headers = {} if header is None else {"Last-Event-ID": header}
    return RequestFactory().get("/v1/events/stream", {} if since is None else {"since": since}, headers=headers)


def test_it_is_what_django_eventstream_finds(db: None) -> None:
    with writer():
        append(SettingsChanged(keys=(), actor="one"))
        append(SettingsChanged(keys=(), actor="two"))
    storage = get_storage()
    first, second = read_after(0)

    assert isinstance(storage, JobEventStorage)
    assert isinstance(get_channelmanager(), SignedInChannelManager)
    assert storage.get_current_id("events") == second.id
    assert [(event.id, event.type) for event in storage.get_events("events", first.id)] == [
        (second.id, "SettingsChanged")
    ]
    with pytest.raises(NotImplementedError):
        storage.append_event("events", "Forged", {})


def test_it_lets_in_who_is_signed_in_only(db: None) -> None:
    manager, operator = SignedInChannelManager(), ensure_operator()
    assert manager.can_read_channel(operator, "events") and manager.can_read_channel(operator, "live")
    assert not manager.can_read_channel(operator, "other")
    assert not manager.can_read_channel(AnonymousUser(), "events")
    assert not manager.can_read_channel(None, "events")
    operator.is_active = False
    assert not manager.can_read_channel(operator, "events")


def test_it_is_not_held_back_by_gzip(db: None) -> None:
    request: Any = AsyncRequestFactory().get("/v1/events/stream", headers={"Accept-Encoding": "gzip"})
    request._jobctrl_actor = Actor(ensure_operator())
    middleware: Any = GZipMiddleware(stream_events)
    response: Any = async_to_sync(middleware)(request)

    assert response.streaming and response.is_async
    assert response["Content-Encoding"] == "identity"
    response.close()


@pytest.mark.django_db(transaction=True)
def test_it_answers_polls_where_the_server_is_synchronous() -> None:
    with writer():
        for actor in ("one", "two", "three"):
            append(SettingsChanged(keys=(), actor=actor))
    ids = [event.id for event in read_after(0)]
    client = Client()
    client.force_login(ensure_operator())

    missed = client.get("/v1/events/stream", headers={"Last-Event-ID": str(ids[0])}, follow=False)
    tail = client.get("/v1/events/stream")
    page = client.get("/live/", {"since": str(ids[0])})

    assert not missed.streaming and missed["Content-Type"] == "text/event-stream"
    text = missed.content.decode()
    assert text.startswith("retry: 5000\n") and "ask again" in text
    assert [line for line in text.splitlines() if line.startswith("id: ")][-2:] == [f"id: {n}" for n in ids[1:]]
    assert tail.content.decode().startswith(f"retry: 5000\nid: {ids[-1]}\n")
    assert "event: SettingsChanged" not in tail.content.decode()
    assert page.content.decode().count("event: nudge") == 1


def test_it_refuses_to_boot_with_a_middleware_that_would_block_streams() -> None:
    assert check_middleware(None) == []
    with override_settings(MIDDLEWARE=[f"{__name__}.SyncOnly"]):
        (error,) = check_middleware(None)
    assert error.id == "operations.E010" and "SyncOnly" in error.msg


class SyncOnly:
    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response


def test_it_never_begins_for_a_client_that_left_while_it_waited(db: None) -> None:
    from operations.streaming.tailer import join, leave

    listener = StreamListener("events", user_id=1)
    leave(listener)
    assert join(listener) is None


def test_it_can_be_closed_before_it_has_begun_and_twice() -> None:
    stream = EventStream("events", user_id=1, after=None)
    stream.close()
    stream.close()


def test_it_ends_the_streams_of_a_user_who_may_no_longer_listen() -> None:
    async def listen() -> list[bool]:
        listeners = [
            StreamListener(channel, user_id=user) for channel, user in (("events", 1), ("live", 1), ("live", 2))
        ]
        for listener in listeners:
            listener.assign_loop()
            get_listener_manager().add_listener(listener)
        close_streams(1)
        found = [listener.take()[2] for listener in listeners]
        for listener in listeners:
            get_listener_manager().remove_listener(listener)
        return found

    assert async_to_sync(listen)() == [True, True, False]


def test_it_says_goodbye_so_that_a_client_returns_at_once() -> None:
    assert frames.render_farewell() == b"retry: 100\n\n"
