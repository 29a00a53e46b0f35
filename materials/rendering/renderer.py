"""The render thread. Playwright's objects cannot cross threads, so one thread owns them and takes work from a queue."""

import atexit
import logging
import queue
import threading
import time
from concurrent.futures import Future, InvalidStateError, wait
from dataclasses import dataclass, field

from materials.chromium import ChromiumMissing
from materials.rendering.browser import Browser, find_driver_pid, kill_process
from materials.rendering.failures import RenderCode, RenderFailed

logger = logging.getLogger(__name__)

IDLE_SECONDS = 300.0
UNBLOCK_SECONDS = 5.0


@dataclass(slots=True, eq=False)
class Job:
    html: str
    deadline: float  # of time.monotonic()
    future: Future[bytes] = field(default_factory=Future)

    @property
    def seconds_left(self) -> float:
        return self.deadline - time.monotonic()


class Renderer:
    """A thread with a warm Chromium, started on first use. Its thread must never touch the ORM."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._running: Job | None = None
        self._pids: tuple[int | None, int | None] | None = None

    @property
    def chromium_pid(self) -> int | None:
        """The warm Chromium, ``None`` while there is none."""
        pids = self._pids
        return pids and pids[0]

    def render_pdf(self, html: str, *, timeout_seconds: float = 30.0) -> bytes:
        """Blocks the calling thread, waiting in the queue included. Raises ``RenderFailed``."""
        job = Job(html, time.monotonic() + timeout_seconds)
        self._submit(job)
        wait([job.future], timeout=timeout_seconds)
        if job.future.done():
            return job.future.result()
        if not job.future.cancel():
            self._break_off(job)
        raise RenderFailed(RenderCode.TIMEOUT, f"The page was not rendered within {timeout_seconds:g} seconds.")

    def shutdown(self) -> None:
        """Closes Chromium and ends the thread. A later render starts both again."""
        with self._lock:
            thread, self._thread = self._thread, None
            jobs, self._jobs = self._jobs, queue.SimpleQueue()
        if thread is None:
            return
        jobs.put(None)
        thread.join(timeout=UNBLOCK_SECONDS)
        if thread.is_alive():
            self._kill_processes()
            thread.join(timeout=UNBLOCK_SECONDS)

    def _submit(self, job: Job) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, args=(self._jobs,), name="pdf-render", daemon=True)
                self._thread.start()
            self._jobs.put(job)

    def _break_off(self, job: Job) -> None:
        """A hung Chromium is only left by killing it; a thread that stays stuck even so is left behind."""
        with self._lock:
            if self._running is not job:
                return
            self._kill_processes()
        wait([job.future], timeout=UNBLOCK_SECONDS)
        if job.future.done():
            return
        with self._lock:
            stuck, self._jobs = self._jobs, queue.SimpleQueue()
            self._thread = None
            self._move_waiting(stuck)
            stuck.put(None)

    def _move_waiting(self, stuck: "queue.SimpleQueue[Job | None]") -> None:
        waiting: list[Job | None] = []
        while not stuck.empty():
            waiting.append(stuck.get_nowait())
        if not waiting:
            return
        for job in waiting:
            self._jobs.put(job)
        self._thread = threading.Thread(target=self._work, args=(self._jobs,), name="pdf-render", daemon=True)
        self._thread.start()

    def _kill_processes(self) -> None:
        if self._pids is not None:
            for pid in self._pids:
                kill_process(pid)

    def _work(self, jobs: "queue.SimpleQueue[Job | None]") -> None:
        browser: Browser | None = None
        while True:
            try:
                job = jobs.get(timeout=self._idle_seconds if browser else None)
            except queue.Empty:
                self._discard(browser)
                browser = None
                continue
            if job is None:
                self._discard(browser)
                return
            if job.future.set_running_or_notify_cancel():
                browser = self._run(job, browser)
            del job  # the page and its PDF need not outlive the wait for the next

    def _run(self, job: Job, browser: Browser | None) -> Browser | None:
        """The browser to go on with, ``None`` after a failure: whatever failed, the next render starts clean."""
        with self._lock:
            self._running = job
        try:
            browser = self._ensure_browser(browser, seconds=job.seconds_left)
            data = browser.print_page(job.html, timeout_seconds=max(job.seconds_left, 0.1))
        except Exception as error:
            self._end(job)
            _settle(job.future, error=_classify(error))
            self._discard(browser)
            return None
        self._end(job)
        _settle(job.future, data=data)
        try:
            browser.freshen_page()
        except Exception:
            self._discard(browser)
            return None
        return browser

    def _end(self, job: Job) -> None:
        with self._lock:
            if self._running is job:
                self._running = None

    def _ensure_browser(self, browser: Browser | None, *, seconds: float) -> Browser:
        if browser is not None and browser.is_alive():
            return browser
        if browser is not None:
            logger.warning("Chromium had ended; starting another.")
            self._discard(browser)
        started = Browser(launch_timeout_seconds=max(seconds, 0.1))
        self._pids = (started.pid, find_driver_pid(started.pid))
        return started

    def _discard(self, browser: Browser | None) -> None:
        if browser is None:
            return
        browser.close()
        if self._pids is not None and self._pids[0] == browser.pid:
            self._pids = None


def _settle(future: "Future[bytes]", *, data: bytes = b"", error: RenderFailed | None = None) -> None:
    try:
        future.set_exception(error) if error else future.set_result(data)
    except InvalidStateError:
        logger.warning("A render ended after its caller had gone.")


def _classify(error: Exception) -> RenderFailed:
    if isinstance(error, ChromiumMissing):
        return RenderFailed(RenderCode.CHROMIUM_MISSING, str(error))
    from playwright.sync_api import TimeoutError as PlaywrightTimeout

    if isinstance(error, PlaywrightTimeout):
        return RenderFailed(RenderCode.TIMEOUT, "Chromium took too long to start or to lay out the page.")
    reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    return RenderFailed(RenderCode.BROWSER_GONE, f"Chromium did not finish the page: {reason}")


_renderer = Renderer()
atexit.register(_renderer.shutdown)


def render_pdf(html: str, *, timeout_seconds: float = 30.0) -> bytes:
    """A PDF of a self-contained page: no network, no scripts. Blocks; any thread may call; raises ``RenderFailed``.

    Must not be called inside a database transaction.
    """
    return _renderer.render_pdf(html, timeout_seconds=timeout_seconds)


def shutdown() -> None:
    """Closes the process's Chromium, if any."""
    _renderer.shutdown()
