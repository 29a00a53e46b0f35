"""The scripts of the pages in a real browser, against a small server that stands in for the product."""

import json
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from materials.chromium import ChromiumMissing, find_chromium

pytestmark = pytest.mark.browser

SCRIPTS = Path(__file__).resolve().parents[2] / "static"
PAGE = """<!DOCTYPE html><html><head><link rel="stylesheet" href="/static/jobctrl.css"></head>
<body data-live="/live/"><main class="page">
<span data-connection-state hidden><span data-connection>Live</span></span><p id="blank">Elsewhere</p>
{list}<div id="far">.</div></main>
<script type="module" src="/static/js/keys.js"></script><script type="module" src="/static/js/live.js"></script>
</body></html>"""


class Board:
    """What the stand-in server shows; rows are (id, text) pairs."""

    def __init__(self) -> None:
        self.rows = [("a", "Scoring"), ("b", "Scoring"), ("c", "Scoring")]
        self.streams: list[queue.Queue[str | None]] = []
        self.asked: list[str] = []

    def draw_list(self) -> str:
        rows = "".join(
            f'<li id="row-{name}" data-row data-region="row:{name}" data-fragment="/list/">'
            f'<a href="#{name}">{name}</a> <span class="state">{text}</span>'
            f"<details><summary>More</summary>words</details></li>"
            for name, text in self.rows
        )
        note = '<p><input name="note" value=""></p>'
        return f'<div id="list" data-region="list" data-fragment="/list/">{note}<ul class="stack" data-list>{rows}</ul></div>'

    def nudge(self, *regions: str, event: str = "nudge") -> None:
        for stream in self.streams:
            stream.put(f"event: {event}\ndata: {json.dumps({'regions': regions})}\n\n")

    def hang_up(self) -> None:
        for stream in self.streams:
            stream.put(None)


class Handler(BaseHTTPRequestHandler):
    board: Board

    def do_GET(self) -> None:
        if self.path.startswith("/static/"):
            kind = "text/css" if self.path.endswith(".css") else "text/javascript"
            self._answer(SCRIPTS.joinpath(self.path.removeprefix("/static/")).read_text(encoding="utf-8"), kind)
        elif self.path == "/live/":
            self._stream()
        else:
            self.board.asked.append(self.path)
            drawn = self.board.draw_list()
            self._answer(drawn if self.path == "/list/" else PAGE.replace("{list}", drawn), "text/html")

    def _answer(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"retry: 60000\n\n")
        frames: queue.Queue[str | None] = queue.Queue()
        self.board.streams.append(frames)
        while (frame := frames.get()) is not None:
            self.wfile.write(frame.encode())

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def board() -> Iterator[tuple[Board, str]]:
    board = Board()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoardHandler", (Handler,), {"board": board}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield board, f"http://127.0.0.1:{server.server_address[1]}/"
    board.hang_up()
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    try:
        path = find_chromium()
    except ChromiumMissing as missing:
        pytest.skip(str(missing))
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=str(path), args=["--no-sandbox"])
        yield program
        program.close()


@pytest.fixture
def tab(chromium: Any, board: tuple[Board, str]) -> Iterator[Page]:
    tab = chromium.new_page()
    tab.goto(board[1])
    tab.locator("[data-connection]", has_text="Live").wait_for()
    tab.mouse.move(2, 700)
    yield tab
    tab.close()


def _wait_for_state(tab: Page, name: str, text: str) -> None:
    tab.locator(f"#row-{name} .state", has_text=text).wait_for(timeout=5000)


def test_it_changes_a_row_in_place_and_marks_it(tab: Page, board: tuple[Board, str]) -> None:
    tab.locator("#row-b summary").click()
    tab.locator("[name=note]").evaluate("node => { node.value = 'half typed'; }")
    tab.keyboard.press("j")
    tab.mouse.move(2, 700)
    board[0].rows[1] = ("b", "Scored")

    board[0].nudge("row:b", "list")
    _wait_for_state(tab, "b", "Scored")

    assert tab.locator(".changed").evaluate_all("nodes => nodes.map(node => node.id)") == ["row-b"]
    assert tab.locator("#row-b details").evaluate("node => node.open")
    assert tab.locator("[name=note]").input_value() == "half typed"
    assert tab.locator("[data-row].is-active").count() == 1


def test_it_leaves_alone_what_the_pointer_is_over_until_it_leaves(tab: Page, board: tuple[Board, str]) -> None:
    tab.locator("#row-b .state").hover()
    board[0].rows[:] = [("a", "Scored"), ("b", "Scored"), ("c", "Scored")]

    board[0].nudge("list")
    _wait_for_state(tab, "a", "Scored")
    _wait_for_state(tab, "c", "Scored")
    assert tab.locator("#row-b .state").text_content() == "Scoring"

    tab.mouse.move(2, 700)
    _wait_for_state(tab, "b", "Scored")


def test_it_does_not_move_what_the_pointer_is_over(tab: Page, board: tuple[Board, str]) -> None:
    tab.locator("#row-b .state").hover()
    before = tab.locator("#row-b").bounding_box()
    board[0].rows.insert(0, ("new", "Found"))

    board[0].nudge("list")
    tab.wait_for_timeout(1200)
    assert tab.locator("#row-b").bounding_box() == before

    tab.mouse.move(2, 700)
    _wait_for_state(tab, "new", "Found")


def test_it_asks_once_for_a_list_and_the_rows_in_it(tab: Page, board: tuple[Board, str]) -> None:
    tab.wait_for_timeout(900)
    board[0].asked.clear()
    board[0].rows[:] = [("a", "Scored"), ("b", "Scored"), ("c", "Scored")]

    board[0].nudge("row:a", "row:b", "row:c", "list")
    _wait_for_state(tab, "c", "Scored")
    tab.wait_for_timeout(300)

    assert board[0].asked == ["/list/"]


def test_it_refetches_all_on_a_reset(tab: Page, board: tuple[Board, str]) -> None:
    board[0].rows.pop()

    board[0].nudge(event="reset")

    tab.locator("#row-c").wait_for(state="detached", timeout=5000)


def test_it_says_when_the_connection_is_lost(tab: Page, board: tuple[Board, str]) -> None:
    board[0].hang_up()

    tab.locator("[data-connection]", has_text="Connection lost").wait_for(timeout=8000)


def test_it_moves_through_a_list_by_keys_but_not_while_typing(tab: Page) -> None:
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    assert tab.locator(".is-active").get_attribute("id") == "row-b"
    tab.keyboard.press("Enter")
    assert tab.url.endswith("#b")

    tab.locator("[name=note]").focus()
    tab.keyboard.type("jjk/")

    assert tab.locator("[name=note]").input_value() == "jjk/"
    assert tab.url.endswith("#b")


def test_it_keeps_the_focus_when_a_row_above_goes(tab: Page, board: tuple[Board, str]) -> None:
    tab.locator("#row-c a").focus()
    board[0].rows.pop(0)

    board[0].nudge("list")
    tab.locator("#row-a").wait_for(state="detached", timeout=5000)

    assert tab.locator("#row-c a").evaluate("node => node === document.activeElement")
    assert [row.get_attribute("id") for row in tab.locator("[data-row]").all()] == ["row-b", "row-c"]
