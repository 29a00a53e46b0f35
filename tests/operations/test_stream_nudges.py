"""``/live/`` between real processes: which regions pages are told about, and how much at once."""

import time
from collections.abc import Iterator

import pytest

from tests.operations.streams import LIVE, Site, serving_site

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def running_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving_site(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture
def site(running_site: Site) -> Iterator[Site]:
    yield running_site
    running_site.disconnect_all()


def test_it_names_the_stale_regions_once_for_all_events_of_a_write(site: Site) -> None:
    page = site.connect(LIVE).wait_for_opening()
    written = site.writer.append(1, each=40)
    page.wait(lambda seen: seen.ids[-1:] == written[-1:], what="a nudge")

    (nudge,) = page.events
    assert nudge.event == "nudge"
    assert nudge.data == {"regions": ["activity-list", "dashboard", "settings", "topbar"]}


def test_it_resumes_with_one_nudge_for_what_was_missed(site: Site) -> None:
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


def test_it_beats_like_the_raw_stream(site: Site) -> None:
    page = site.connect(LIVE).wait_for_opening()
    time.sleep(1.2)

    assert page.frames[0].retry == 5000
    assert page.list_named("heartbeat")
    assert any(frame.comment for frame in page.frames)
