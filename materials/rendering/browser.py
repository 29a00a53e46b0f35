"""One Chromium under Playwright. Every object here belongs to the thread that made it."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from materials.chromium import find_chromium
from materials.rendering.profile_folder import ProfileFolder

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

# No name resolves and no proxy answers, so that even traffic outside the page has nowhere to go.
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-pings",
)
RENDERS_PER_PAGE = 50
END_SECONDS = 2.0


class Browser:
    """A Chromium with the network off and scripts off. Starting it takes about a second."""

    def __init__(self, *, launch_timeout_seconds: float) -> None:
        program = find_chromium()
        from playwright.sync_api import sync_playwright

        self.pid: int | None = None
        self._folder = ProfileFolder()
        try:
            self._driver = sync_playwright().start()
        except BaseException:
            self._folder.remove()
            raise
        try:
            self._context = self._driver.chromium.launch_persistent_context(
                self._folder.path / "profile",
                executable_path=program,
                args=list(ARGUMENTS),
                chromium_sandbox=os.geteuid() != 0,
                timeout=launch_timeout_seconds * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                java_script_enabled=False,
                offline=True,
                service_workers="block",
                accept_downloads=False,
            )
            self._context.route("**/*", _refuse_request)
            self.pid = self._ask_pid()
            self._page: Page = self._context.pages[0] if self._context.pages else self._context.new_page()
        except BaseException:
            self._stop_driver()
            raise
        self._renders = 0

    def print_page(self, html: str, *, timeout_seconds: float) -> bytes:
        """The page's own ``@page`` rule sets the paper. Raises Playwright's errors when Chromium is gone."""
        self._page.set_content(html, wait_until="load", timeout=timeout_seconds * 1000)
        data = self._page.pdf(prefer_css_page_size=True, print_background=True, tagged=True, outline=False)
        self._renders += 1
        return data

    def freshen_page(self) -> None:
        """One page is used again and again, since a new one costs 50 ms and forgets its fonts; not for ever, though."""
        if self._renders % RENDERS_PER_PAGE:
            return
        stale, self._page = self._page, self._context.new_page()
        stale.close()

    def is_alive(self) -> bool:
        """Asks Chromium itself: a death between two renders is only noticed by talking to it."""
        try:
            self._page.title()
        except Exception:
            return False
        return True

    def close(self) -> None:
        with suppress(Exception):
            self._context.close()
        self._stop_driver()

    def _stop_driver(self) -> None:
        with suppress(Exception):
            self._driver.stop()
        self._end_chromium()
        self._folder.remove()

    def _end_chromium(self) -> None:
        """A Chromium whose driver was killed ends a little later, and would write into the folder being removed."""
        deadline = time.monotonic() + END_SECONDS
        while self.pid is not None and _mentions(self.pid, self._folder.path) and time.monotonic() < deadline:
            kill_process(self.pid)
            time.sleep(0.02)

    def _ask_pid(self) -> int:
        owner = self._context.browser
        if owner is None:
            raise RuntimeError("Playwright gave a context without its browser.")
        session = owner.new_browser_cdp_session()
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        return next(int(process["id"]) for process in processes if process["type"] == "browser")


def find_driver_pid(chromium_pid: int | None) -> int | None:
    """Playwright's driver, if it is the Chromium's parent and our own child. ``None`` where there is no /proc."""
    if chromium_pid is None:
        return None
    driver = _find_parent(chromium_pid)
    return driver if driver is not None and _find_parent(driver) == os.getpid() else None


def kill_process(pid: int | None) -> None:
    if pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _find_parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _mentions(pid: int, folder: Path) -> bool:
    """Whether the process is a Chromium of that folder; process ids are used again."""
    try:
        return os.fsencode(folder) in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _refuse_request(route: "Route") -> None:
    if route.request.url.startswith("data:"):
        route.continue_()
    else:
        route.abort()
