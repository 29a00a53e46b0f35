"""What an open page says of itself once it can no longer be kept true, against a server that can be made to fail."""

import re
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.operations.test_live_script import Board, Handler, chromium

pytestmark = pytest.mark.browser

__all__ = ["chromium"]  # the fixture
PAGE = """<!DOCTYPE html><html><head><link rel="stylesheet" href="/static/jobctrl.css"></head>
<body data-live="/live/" data-palette="/palette/"><main class="page">
<span data-connection-state hidden><span data-connection>Live</span></span>
<p data-stale-note hidden role="status"><span data-stale-text></span> <time data-stale-time></time>.
<button type="button" data-try-again>Try again</button></p>
{top}{list}<div id="far">.</div></main>
<dialog id="palette"><input><div role="listbox"></div></dialog>
<script type="module" src="/static/js/live.js"></script><script type="module" src="/static/js/palette.js"></script>
</body></html>"""
TOP = """<span id="topbar" data-region="topbar" data-fragment="/top/"><span data-fresh-seconds="{seconds}"
data-expired="Worker not heard from"><i class="dot good"></i><span data-fact>Worker 1/4</span></span></span>"""


class FailingBoard(Board):
    def __init__(self) -> None:
        super().__init__()
        self.fails: set[str] = set()
        self.hold = threading.Event()
        self.hold.set()
        self.fresh_seconds = 40


class FailingHandler(Handler):
    board: FailingBoard

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/static/") or path == "/live/":
            return super().do_GET()
        self.board.asked.append(path)
        self.board.hold.wait(20)
        if path in self.board.fails:
            return self.send_error(503)
        top, rows = TOP.format(seconds=self.board.fresh_seconds), self.board.draw_list()
        bodies = {"/top/": top, "/list/": rows, "/palette/": '{"jobs": [], "runs": []}'}
        page = PAGE.replace("{top}", top).replace("{list}", rows)
        self._answer(bodies.get(path, page), "application/json" if path == "/palette/" else "text/html")


@pytest.fixture
def board() -> Iterator[tuple[FailingBoard, str]]:
    board = FailingBoard()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoardHandler", (FailingHandler,), {"board": board}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield board, f"http://127.0.0.1:{server.server_address[1]}/"
    board.hold.set()
    board.hang_up()
    server.shutdown()
    server.server_close()


@pytest.fixture
def tab(chromium: Any, board: tuple[FailingBoard, str]) -> Iterator[Page]:
    tab = chromium.new_page()
    tab.clock.install()
    tab.goto(board[1])
    tab.locator("[data-connection]", has_text="Live").wait_for()
    tab.mouse.move(2, 700)
    tab.clock.fast_forward(1000)
    tab.wait_for_timeout(300)
    yield tab
    tab.close()


def note(tab: Page) -> Any:
    return tab.locator("[data-stale-note]")


def test_it_says_how_old_it_is_while_the_connection_is_lost(tab: Page, board: tuple[FailingBoard, str]) -> None:
    expect(note(tab)).to_be_hidden()
    board[0].hang_up()
    tab.clock.fast_forward(5000)

    expect(note(tab)).to_contain_text(re.compile(r"connection is lost.*it is of \d\d:\d\d:\d\d\."))
    expect(tab.locator("#list")).to_have_class(re.compile("is-stale"))


def test_it_heals_by_the_button(tab: Page, board: tuple[FailingBoard, str]) -> None:
    board[0].hang_up()
    tab.clock.fast_forward(5000)
    expect(note(tab)).to_be_visible()
    board[0].rows[0] = ("a", "Scored")

    note(tab).get_by_role("button", name="Try again").click()
    tab.mouse.move(2, 700)
    tab.clock.fast_forward(2000)

    expect(note(tab)).to_be_hidden()
    expect(tab.locator("#row-a .state")).to_have_text("Scored")
    expect(tab.locator(".is-stale")).to_have_count(0)


def test_it_marks_only_the_part_that_cannot_be_fetched_and_asks_again(
    tab: Page, board: tuple[FailingBoard, str]
) -> None:
    board[0].fails.add("/list/")
    board[0].nudge("list")
    tab.clock.fast_forward(1000)

    expect(note(tab)).to_contain_text("A part of this page could not be updated")
    expect(tab.locator("#list")).to_have_class(re.compile("is-stale"))
    expect(tab.locator("#topbar")).not_to_have_class(re.compile("is-stale"))
    expect(tab.locator("[data-connection]")).to_have_text("Live")

    board[0].fails.clear()
    tab.clock.fast_forward(21_000)
    expect(note(tab)).to_be_hidden()
    expect(tab.locator(".is-stale")).to_have_count(0)


def test_a_slow_part_says_that_it_is_asked_for(tab: Page, board: tuple[FailingBoard, str]) -> None:
    board[0].hold.clear()
    board[0].nudge("list")
    tab.clock.fast_forward(500)
    tab.wait_for_timeout(300)
    tab.clock.fast_forward(1500)

    expect(tab.locator("#list")).to_have_attribute("aria-busy", "true")
    board[0].hold.set()
    expect(tab.locator("#list")).not_to_have_attribute("aria-busy", "true")


def test_no_page_calls_a_worker_alive_for_longer_than_its_heartbeat_holds(
    tab: Page, board: tuple[FailingBoard, str]
) -> None:
    """Nothing newer comes: the server answers nothing any more."""
    board[0].hold.clear()
    tab.clock.fast_forward(35_000)
    expect(tab.locator("[data-fact]")).to_have_text("Worker 1/4")

    tab.clock.fast_forward(6000)

    expect(tab.locator("[data-fact]")).to_have_text("Worker not heard from")
    expect(tab.locator("#topbar .dot")).to_have_class("dot unknown")
    board[0].hold.set()
    expect(tab.locator("[data-fact]")).to_have_text("Worker 1/4")


def test_the_palette_says_that_it_searches_and_when_it_cannot(tab: Page, board: tuple[FailingBoard, str]) -> None:
    board[0].hold.clear()
    board[0].fails.add("/palette/")
    tab.keyboard.press("Control+k")
    tab.locator("#palette input").fill("eng")
    tab.clock.fast_forward(200)
    tab.clock.fast_forward(400)
    expect(tab.locator("#palette")).to_contain_text("Searching jobs and runs")

    board[0].hold.set()
    expect(tab.locator("#palette")).to_contain_text("could not be searched")
    board[0].fails.clear()
    tab.locator("#palette").get_by_role("button", name="Try again").click()
    expect(tab.locator("#palette")).to_contain_text("Nothing has that in its name")
