"""The streams between real processes: two daphne web processes, two writers, plain HTTP clients."""

import json
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.operations.streams import EVENTS, LIVE, Site, is_on_postgres, serving_site
from tests.processes import wait_until
from tests.template import Template

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def running_site(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Site]:
    with serving_site(tmp_path_factory.mktemp("site"), template) as site:
        yield site


@pytest.fixture
def site(running_site: Site) -> Iterator[Site]:
    yield running_site
    running_site.disconnect_all()


def settle(site: Site) -> dict[str, int]:
    """What the web process holds when nobody listens; daphne forgets its connections once a second."""
    site.disconnect_all()
    time.sleep(2.5)
    return site.web.probe()


def test_it_delivers_every_event_once_in_order_from_another_process_to_both_web_processes(site: Site) -> None:
    clients = [site.connect(web=web).wait_for_opening() for web in (0, 1)]
    for number, writer in enumerate(site.writers):
        writer.begin("append", count=60, each=3, actor=f"writer {number}")
    written = sorted(site.writers[0].finish() + site.writers[1].finish())

    assert len(written) == 360
    for client in clients:
        client.wait(lambda seen: len(seen.ids) >= 360, what="every event has come")
        assert client.ids == written
        assert {frame.event for frame in client.events} == {"SettingsChanged"}
        assert {frame.data["actor"] for frame in client.events} == {"writer 0", "writer 1"}


def test_it_says_what_it_is_and_how_it_wants_to_be_carried(site: Site) -> None:
    client = site.connect().wait_for_opening()

    headers = client.response.headers
    assert client.response.status == 200
    assert headers["Content-Type"] == "text/event-stream"
    assert headers["Cache-Control"] == "no-cache, no-transform"
    assert headers["X-Accel-Buffering"] == "no"
    assert headers["Content-Encoding"] in (None, "identity")
    assert client.frames[0].retry == 5000


def test_it_resumes_after_the_last_id_and_goes_on_live(site: Site) -> None:
    first, *missed = site.writer.append(2, each=3)
    client = site.connect(last_id=first)
    client.wait(lambda seen: len(seen.ids) >= 5, what="what was missed has come")
    later = site.writer.append(2)
    client.wait(lambda seen: len(seen.ids) >= 7, what="what came later too")

    assert client.ids == missed + later


def test_it_resumes_in_the_middle_of_a_transaction_that_is_being_written(site: Site) -> None:
    site.writer.append(1)
    client = site.connect().wait_for_opening()
    start = client.frames[0].id
    site.writer.begin("append", count=30, each=10, pause=0.005)
    seen: list[int] = []
    while len(seen) < 200:
        client.wait(lambda now: len(now.ids) >= 7, what="some events")
        seen += client.ids[:7]  # leaves amid the ten of one transaction
        client.close()
        client = site.connect(last_id=seen[-1])
    written = site.writer.finish()

    assert start is not None
    assert seen == [event_id for event_id in written if start < event_id <= seen[-1]]


def test_it_takes_since_where_no_last_id_was_sent(site: Site) -> None:
    first, second, third = site.writer.append(3)

    by_parameter = site.connect(f"{EVENTS}?since={first}")
    by_header = site.connect(f"{EVENTS}?since={first}", last_id=second)
    by_parameter.wait(lambda seen: len(seen.ids) >= 2, what="two events")
    by_header.wait(lambda seen: len(seen.ids) >= 1, what="one event")

    assert by_parameter.ids == [second, third]
    assert by_header.ids == [third]


def test_it_begins_at_the_tail_with_an_id_to_resume_from(site: Site) -> None:
    last = site.writer.append(2)[-1]
    fresh, ahead = site.connect().wait_for_opening(), site.connect(last_id=last + 10**6).wait_for_opening()
    assert [fresh.frames[0].id, ahead.frames[0].id] == [last, last]

    (new,) = site.writer.append(1)
    for client in (fresh, ahead):
        client.wait(lambda seen: bool(seen.ids), what="the new event")
        assert client.ids == [new]


@pytest.mark.parametrize("value", ["41x", "-1", "1.5", "9" * 40, "٣"])
def test_it_names_an_id_that_is_none(site: Site, value: str) -> None:
    headers = {"Authorization": f"Bearer {site.token}"}
    response, body = site.web.get(EVENTS, **headers, **{"Last-Event-ID": value.encode().decode("latin-1")})
    assert response.status == 400
    assert response.headers["Content-Type"] == "application/json"
    assert "Last-Event-ID" in json.loads(body)["message"]

    if value.isascii():
        response, body = site.web.get(f"{LIVE}?since={value}", **headers)
        assert response.status == 400
        assert json.loads(body)["message"].startswith("since ")


def test_it_asks_to_sign_in(site: Site) -> None:
    for path in (EVENTS, LIVE):
        response, body = site.web.get(path)
        assert response.status == 401
        assert "/sign-in/" in json.loads(body)["message"]
        assert site.web.get(path, Authorization="Bearer jc_wrong")[0].status == 401


def test_it_leaves_markers_to_the_audit(site: Site) -> None:
    client = site.connect().wait_for_opening()
    site.writer.ask("append_marker")
    (event_id,) = site.writer.append(1)
    client.wait(lambda seen: bool(seen.ids), what="the event after the marker")

    assert client.ids == [event_id]


def test_it_keeps_a_silent_connection_alive_by_the_clock(site: Site) -> None:
    (last,) = site.writer.append(1)
    client = site.connect(last_id=last).wait_for_opening()
    time.sleep(3.2)

    comments = [frame.at for frame in client.frames if frame.comment]
    beats = client.list_named("heartbeat")
    assert 6 <= len(comments) <= 8, "a comment every 0.4 s here"
    assert len(beats) == 3, "a heartbeat every 0.9 s here"
    assert max(later - earlier for earlier, later in pairwise(comments)) < 0.7
    assert {beat.data["watermark"] for beat in beats} == {last}
    assert {beat.id for beat in beats} == {None}


def test_it_keeps_its_clock_while_events_pour_in(site: Site) -> None:
    client = site.connect().wait_for_opening()
    written = site.writer.append(120, pause=0.02)
    client.wait(lambda seen: len(seen.ids) >= 120, what="all events")

    assert client.ids == written
    assert len([frame for frame in client.frames if frame.comment]) >= 4
    for position, frame in enumerate(client.frames):
        if frame.event == "heartbeat":
            before = [other.id for other in client.frames[:position] if other.id is not None]
            assert frame.data["watermark"] <= max(before), "a heartbeat ran ahead of the events"


def test_it_shows_nothing_above_the_projections(site: Site) -> None:
    client = site.connect().wait_for_opening()
    (known,) = site.writer.append(1)
    client.wait(lambda seen: known in seen.ids, what="what was written before")
    before = client.ids
    unfolded = site.writer.ask("append_unfolded")
    late = site.connect(last_id=known).wait_for_opening()
    time.sleep(0.5)
    assert client.ids == before
    assert late.ids == []

    site.writer.ask("set_mark", event_id=unfolded)
    for one in (client, late):
        one.wait(lambda seen: unfolded in seen.ids, what="the event, once it was folded")
    assert client.ids == [*before, unfolded]
    assert late.ids == [unfolded]


def test_it_goes_on_past_a_flagged_app_and_has_pages_refetch_once_it_has_caught_up(site: Site) -> None:
    site.writer.append(1)  # makes the app's watermark where this is the first test
    client, page = site.connect().wait_for_opening(), site.connect(LIVE).wait_for_opening()
    site.writer.ask("flag", app="operations")
    written = site.writer.append(2)
    client.wait(lambda seen: len(seen.ids) >= 2, what="events that the flagged app has not folded")
    assert client.ids == written
    assert not page.list_named("reset")

    site.writer.ask("recover", app="operations")
    page.wait(lambda seen: bool(seen.list_named("reset")), what="a reset")
    later = site.writer.append(1)
    client.wait(lambda seen: len(seen.ids) >= 3, what="the next event")
    assert client.ids == written + later
    assert not page.has_ended


def test_it_drops_a_slow_client_with_a_reset_and_lets_it_catch_up_by_id(site: Site) -> None:
    start = site.connect().wait_for_opening().frames[0].id
    slow = site.connect(is_reading=False)
    quick = site.connect().wait_for_opening()
    written = site.writer.append(300, size=40, pause=0.01)  # 12 MB: more than the kernel's buffers hold
    quick.wait(lambda seen: len(seen.ids) >= 300, what="the quick client has everything")
    assert quick.ids == written
    assert not quick.list_named("reset")

    slow.start()
    slow.wait(lambda seen: seen.has_ended, what="the slow client was dropped")
    (reset,) = slow.list_named("reset")
    assert (reset.data["reason"], reset.id) == ("slow_client", None)
    assert slow.frames[-1] == reset
    assert 0 < len(slow.ids) < 300
    assert slow.ids == written[: len(slow.ids)]

    again = site.connect(last_id=slow.ids[-1])
    again.wait(lambda seen: len(seen.ids) >= 300 - len(slow.ids), what="it has caught up")
    assert slow.ids + again.ids == written
    assert start == written[0] - 1


def test_it_lets_go_of_a_client_that_never_reads(site: Site) -> None:
    before = settle(site)
    site.connect(is_reading=False)
    wait_until(lambda: site.web.probe()["tasks"] > before["tasks"], what="its stream has begun", seconds=20)
    site.writer.append(300, size=40)
    wait_until(lambda: site.web.probe()["tasks"] <= before["tasks"], what="its stream has ended", seconds=20)


def test_it_asks_the_database_no_more_for_fifty_clients_than_for_one(site: Site) -> None:
    def count_queries() -> int:
        before = site.web.probe()["queries"]
        site.writer.append(40, pause=0.03)
        time.sleep(0.2)
        return site.web.probe()["queries"] - before

    site.connect().wait_for_opening()
    for_one = count_queries()
    clients = [site.connect((EVENTS, LIVE)[number % 2]).wait_for_opening() for number in range(49)]
    for_fifty = count_queries()

    assert for_one > 0
    assert for_fifty <= for_one * 1.2 + 5
    written = site.writer.append(1)
    for client in clients:
        client.wait(lambda seen: seen.ids[-1:] == written, what="each has the last event")
    assert site.web.probe()["threads"] < 40, "clients hold no threads"


def test_it_keeps_nothing_of_clients_that_have_left(site: Site) -> None:
    for _ in range(10):
        site.connect().wait_for_opening().close()
    before = settle(site)
    for number in range(200):
        client = site.connect((EVENTS, LIVE)[number % 2])
        if number % 3:
            client.wait_for_opening()
        client.close()
    after = settle(site)

    assert after["tasks"] <= before["tasks"]
    assert after["threads"] <= before["threads"]
    assert after["files"] <= before["files"]


@pytest.mark.skipif(not is_on_postgres(), reason="SQLite has no server whose connections could be cut")
def test_it_goes_on_where_the_database_has_cut_its_connections(site: Site) -> None:
    client = site.connect().wait_for_opening()
    before = site.writer.append(2)
    site.writer.ask("cut_connections")
    after = site.writer.append(3)
    client.wait(lambda seen: len(seen.ids) >= 5, what="the events around the cut")

    assert client.ids == before + after


def test_it_stops_reading_when_the_last_client_has_left(site: Site) -> None:
    site.connect().wait_for_opening().close()
    time.sleep(0.6)
    before = site.web.probe()["queries"]
    site.writer.append(10, pause=0.02)
    time.sleep(0.3)
    assert site.web.probe()["queries"] == before

    client = site.connect().wait_for_opening()
    (event_id,) = site.writer.append(1)
    client.wait(lambda seen: bool(seen.ids), what="it starts again for the next")
    assert client.ids == [event_id]


def test_it_names_the_stale_regions_once_for_all_events_of_a_write(site: Site) -> None:
    page = site.connect(LIVE).wait_for_opening()
    written = site.writer.append(1, each=40)
    page.wait(lambda seen: seen.ids[-1:] == written[-1:], what="a nudge")

    (nudge,) = page.events
    assert nudge.event == "nudge"
    assert nudge.data == {"regions": ["activity-list", "dashboard", "settings", "topbar"]}


def test_a_page_resumes_with_one_nudge_for_what_was_missed(site: Site) -> None:
    first, *missed = site.writer.append(30)
    page = site.connect(LIVE, last_id=first)
    page.wait(lambda seen: bool(seen.events), what="a nudge")
    (event_id,) = site.writer.append(1)
    page.wait(lambda seen: len(seen.events) >= 2, what="a nudge for the next event")

    assert [(frame.event, frame.id) for frame in page.events] == [("nudge", missed[-1]), ("nudge", event_id)]


def test_it_resets_a_page_that_missed_much_and_goes_on(site: Site) -> None:
    first, *missed = site.writer.append(30, each=20)
    page = site.connect(LIVE, last_id=first)
    page.wait(lambda seen: bool(seen.events), what="a reset")
    (event_id,) = site.writer.append(1)
    page.wait(lambda seen: len(seen.events) >= 2, what="a nudge for the next event")

    assert [(frame.event, frame.id) for frame in page.events] == [("reset", missed[-1]), ("nudge", event_id)]
    assert not page.has_ended


def test_pages_hear_the_same_clock(site: Site) -> None:
    page = site.connect(LIVE).wait_for_opening()
    time.sleep(1.2)

    assert page.frames[0].retry == 5000
    assert page.list_named("heartbeat")
    assert any(frame.comment for frame in page.frames)
