import http.server
import os
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from materials.chromium import ChromiumMissing, find_chromium
from materials.rendering.browser import find_driver_pid
from materials.rendering.documents import render_html
from materials.rendering.failures import RenderCode, RenderFailed
from materials.rendering.renderer import Renderer
from tests.materials.written_documents import LONG_RESUME

try:
    find_chromium()
    MISSING = ""
except ChromiumMissing as error:
    MISSING = str(error)

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(MISSING), reason=MISSING or "Chromium is here")]

PAGE = "<!doctype html><p>One line.</p>"
SLOW_PAGE = "<!doctype html>" + f"<p>{'efficient office workflow ' * 150}</p>" * 1500


@pytest.fixture
def renderer() -> Iterator[Renderer]:
    own = Renderer()
    yield own
    own.shutdown()


def strike_during_render(renderer: Renderer, pid: int, sign: signal.Signals, *, timeout_seconds: float) -> RenderFailed:
    threading.Timer(0.5, os.kill, (pid, sign)).start()
    with pytest.raises(RenderFailed) as failure:
        renderer.render_pdf(SLOW_PAGE, timeout_seconds=timeout_seconds)
    return failure.value


def test_it_asks_the_network_and_the_disk_for_nothing(renderer: Renderer, tmp_path: Path) -> None:
    asked: list[str] = []

    class Recorder(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

    (tmp_path / "secret.html").write_text("a secret of the disk")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        html = (
            f"<link rel=stylesheet href='{base}/a.css'><link rel=preconnect href='{base}'><img src='{base}/b.png'>"
            f"<iframe src='{base}/c'></iframe><iframe src='file://{tmp_path}/secret.html'></iframe>"
            f"<style>body {{ background: url({base}/d.png) }}</style><script>document.body.append('ran')</script>"
            "<p>shown</p>"
        )
        text = PdfReader(BytesIO(renderer.render_pdf(html))).pages[0].extract_text()
        with suppress(RenderFailed):  # a page that leaves while it is printed may fail; it must not get anywhere
            renderer.render_pdf(f"<meta http-equiv=refresh content='0;url={base}/e'>{SLOW_PAGE}")
        server.shutdown()

    assert asked == []
    assert text.split() == ["shown"]


@pytest.mark.parametrize("victim", ["chromium", "driver"])
def test_it_fails_once_and_recovers_when_the_browser_is_killed_during_a_render(renderer: Renderer, victim: str) -> None:
    renderer.render_pdf(PAGE)
    pid = renderer.chromium_pid if victim == "chromium" else find_driver_pid(renderer.chromium_pid)
    assert pid is not None

    failure = strike_during_render(renderer, pid, signal.SIGKILL, timeout_seconds=60)

    assert (failure.code, failure.retryable, failure.error_code) == (
        RenderCode.BROWSER_GONE,
        True,
        "browser_transient",
    )
    assert renderer.render_pdf(PAGE).startswith(b"%PDF")


@pytest.mark.parametrize("victim", ["chromium", "driver"])
def test_it_breaks_off_a_hung_browser_in_time_and_recovers(renderer: Renderer, victim: str) -> None:
    renderer.render_pdf(PAGE)
    pid = renderer.chromium_pid if victim == "chromium" else find_driver_pid(renderer.chromium_pid)
    assert pid is not None
    started = time.monotonic()

    failure = strike_during_render(renderer, pid, signal.SIGSTOP, timeout_seconds=2)

    assert (failure.code, failure.retryable) == (RenderCode.TIMEOUT, True)
    assert time.monotonic() - started < 6
    assert renderer.render_pdf(PAGE).startswith(b"%PDF")


def test_it_starts_another_browser_unasked_when_the_idle_one_died(renderer: Renderer) -> None:
    renderer.render_pdf(PAGE)
    first = renderer.chromium_pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    time.sleep(0.2)

    assert renderer.render_pdf(PAGE).startswith(b"%PDF")
    assert renderer.chromium_pid not in (None, first)


def test_it_gives_a_caller_that_waited_too_long_in_the_queue_its_own_failure(renderer: Renderer) -> None:
    renderer.render_pdf(PAGE)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(renderer.render_pdf, SLOW_PAGE, timeout_seconds=60)
        time.sleep(0.2)
        with pytest.raises(RenderFailed, match=r"within 0\.2 seconds"):
            renderer.render_pdf(PAGE, timeout_seconds=0.2)

        assert slow.result().startswith(b"%PDF")


def test_it_closes_an_idle_browser_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    renderer = Renderer(idle_seconds=0.2)
    renderer.render_pdf(PAGE)
    pid = renderer.chromium_pid
    assert pid is not None
    assert [path.name.startswith("jobctrl-render-") for path in tmp_path.iterdir()] == [True]
    deadline = time.monotonic() + 10
    while renderer.chromium_pid is not None and time.monotonic() < deadline:
        time.sleep(0.05)

    assert renderer.chromium_pid is None
    assert not Path(f"/proc/{pid}").exists()
    assert list(tmp_path.iterdir()) == []
    renderer.shutdown()


def test_it_serves_many_threads_and_keeps_one_page(renderer: Renderer) -> None:
    with ThreadPoolExecutor(8) as pool:
        pages = [f"<p>page {number}</p>" for number in range(120)]
        texts = [PdfReader(BytesIO(pdf)).pages[0].extract_text() for pdf in pool.map(renderer.render_pdf, pages)]

    assert texts == [f"page {number}" for number in range(120)]


def test_it_says_which_chromium_is_missing(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.conf import settings

    monkeypatch.setattr(settings, "CHROMIUM_PATH", "/nowhere/chromium")

    with pytest.raises(RenderFailed, match="/nowhere/chromium") as failure:
        renderer.render_pdf(PAGE)

    assert (failure.value.code, failure.value.error_code) == (RenderCode.CHROMIUM_MISSING, "configuration")


@pytest.mark.bench
def test_it_prints_a_warm_resume_within_a_quarter_of_a_second(renderer: Renderer) -> None:
    html = render_html(LONG_RESUME, style="modern", paper="a4")
    renderer.render_pdf(html)
    seconds = []
    for _ in range(20):
        started = time.perf_counter()
        renderer.render_pdf(html)
        seconds.append(time.perf_counter() - started)

    assert statistics.median(seconds) <= 0.25
