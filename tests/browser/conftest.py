"""The browser and the one product that it visits. These tests come last: the browser's loop makes every ORM call in
its thread fail for as long as the browser lives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.browser.product import Product, running_product
from tests.processes import wait_until

HERE = Path(__file__).parent
FIRST = "test_first_run.py"
WAIT_MS = 20_000
NewContext = Callable[..., BrowserContext]

expect.set_options(timeout=WAIT_MS)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first run needs a product that has seen nothing yet."""

    def rank(item: pytest.Item) -> tuple[int, str, int]:
        if item.path.parent != HERE:
            return 0, "", 0
        if item.path.name == FIRST:
            return 1, "", item.function.__code__.co_firstlineno  # type: ignore[attr-defined]
        return 2, "", 0

    items.sort(key=rank)


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with running_product(tmp_path_factory.mktemp("product")) as running:
        yield running


@pytest.fixture(scope="session")
def filled(product: Product) -> Product:
    """The product with jobs, scores and documents."""
    product.fill()
    return product


@pytest.fixture(scope="session")
def cookies(product: Product, browser: Browser) -> dict[str, Any]:
    """The storage of a browser that is signed in."""
    return enter(browser, product)


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any], product: Product) -> dict[str, Any]:
    return {**browser_context_args, "base_url": product.url, "viewport": {"width": 1280, "height": 900}}


@dataclass(slots=True)
class Complaints:
    """What the pages of a test complained about on the console, which may come late. The lines that a test provokes
    it ``allows`` by a part of them: the browser's own line about an answer of 404, say."""

    said: list[str] = field(default_factory=list)
    allowed: tuple[str, ...] = ()

    def allow(self, *parts: str) -> None:
        self.allowed += parts

    def list_unexpected(self) -> list[str]:
        return [line for line in self.said if not any(part in line for part in self.allowed)]


@pytest.fixture
def complaints() -> Complaints:
    return Complaints()


@pytest.fixture
def open_context(
    browser: Browser, browser_context_args: dict[str, Any], cookies: dict[str, Any], complaints: Complaints
) -> Iterator[NewContext]:
    """Browsers of their own that are signed in (``storage_state=None``: that are not), watched for complaints."""
    made: list[BrowserContext] = []

    def note(said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            complaints.said.append(f"{said.page.url if said.page else ''}: {said.text}")

    def make(**settings: Any) -> BrowserContext:
        context = browser.new_context(**{**browser_context_args, "storage_state": cookies, **settings})
        made.append(context)
        context.set_default_timeout(WAIT_MS)
        context.on("console", note)
        context.on("weberror", lambda error: complaints.said.append(str(error.error)))
        return context

    yield make
    for context in made:
        context.close()
    assert complaints.list_unexpected() == []


@pytest.fixture
def page(open_context: NewContext) -> Page:
    """A tab that is signed in."""
    return open_context().new_page()


def enter(browser: Browser, product: Product) -> dict[str, Any]:
    """Sign in with a new link; the cookies that a browser then holds."""
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(product.make_link())
    tab.get_by_role("button", name="Sign in").click()
    tab.get_by_role("navigation", name="Pages").wait_for()
    state: Any = context.storage_state()
    context.close()
    return dict(state)


def wait_for_live(page: Page) -> None:
    page.locator("body:not(.is-lost) [data-connection]", has_text="Live").wait_for()


def await_claim(page: Page, claim: Callable[[], bool], *, what: str, seconds: float = 30.0) -> None:
    """Like ``wait_until``, but lets the browser's events through."""

    def check() -> bool:
        page.wait_for_timeout(50)
        return claim()

    wait_until(check, what=what, seconds=seconds)
