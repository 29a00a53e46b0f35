"""Every page, full of data: axe, strict HTML, nothing inline, nothing sideways, in both themes and both widths."""

from collections.abc import Iterable
from functools import partial

import pytest
from playwright.sync_api import Page, Response, Route, expect

from tests.browser import places
from tests.browser.conftest import Complaints, NewContext, wait_for_live
from tests.browser.product import Product
from tests.browser.sound import NARROW, begin_wide, inspect, list_grave_findings, list_markup_errors, measure_overflow

pytestmark = pytest.mark.browser

FAILED = "Failed to load resource"  # the browser's own line about every answer from 400


def visit(page: Page, paths: Iterable[str], *, narrow: bool = True) -> str:
    """The faults of every page, a line each."""
    faults: list[str] = []
    for path in paths:
        begin_wide(page)
        answer = page.goto(path)
        assert answer and answer.status == 200, path
        if path == places.DOCS:
            page.locator(".opblock").last.wait_for()
        faults += inspect(page, answer.text(), narrow=narrow)
    return "\n".join(faults)


def test_it_is_sound_with_data(page: Page, filled: Product) -> None:
    assert visit(page, places.list_places(filled.workspace).values()) == ""


def test_the_operators_pages_are_sound(page: Page, filled: Product) -> None:
    found = places.list_admin_places(page, filled)

    assert len(found) > 30
    assert visit(page, [found.pop(name) for name in ("admin", "admin-search", "admin-row")]) == ""
    assert visit(page, found.values(), narrow=False) == ""


def test_the_page_of_the_api_is_sound_while_it_is_used(page: Page, filled: Product) -> None:
    answer = page.goto(places.DOCS)
    assert answer
    for method in ("get", "post", "put", "patch", "delete"):
        page.locator(f".opblock-{method} .opblock-summary-control").first.click()
    buttons = page.get_by_role("button", name="Try it out")
    while buttons.count():
        buttons.first.click()
    page.locator(".opblock-get .execute").click()
    expect(page.locator(".live-responses-table")).to_be_visible()

    assert inspect(page, answer.text()) == []


@pytest.mark.parametrize("name", places.WAYS)
def test_what_no_address_leads_to_is_sound(page: Page, filled: Product, complaints: Complaints, name: str) -> None:
    reach, status = places.WAYS[name]
    complaints.allow(*([] if status == 200 else [FAILED]))

    answer: Response = reach(page)

    assert answer.status == status
    assert page.locator("h1").first.inner_text()
    assert inspect(page, answer.text()) == []


def answer_with(html: str, status: int, route: Route) -> None:
    route.fulfill(status=status, body=html, content_type="text/html; charset=utf-8")


def test_its_error_pages_are_sound(page: Page, product: Product, complaints: Complaints) -> None:
    """Those too that nothing in a sound product leads to: they stand in for an answer of the server."""
    faults: list[str] = []
    complaints.allow(FAILED)
    for name, html in places.render_errors(product).items():
        page.route(f"**/{name}/", partial(answer_with, html, int(name.rpartition("-")[2])))
        page.goto(f"/{name}/")
        assert page.get_by_role("link", name="Go").first.is_visible()
        faults += inspect(page, html)

    assert "\n".join(faults) == ""


def test_its_dialogs_are_sound(page: Page, filled: Product) -> None:
    problems: list[str] = []
    page.goto("/jobs/")
    wait_for_live(page)
    for key, dialog in (("?", "keys"), ("Control+k", "palette")):
        page.keyboard.press(key)
        page.locator(f"dialog#{dialog}").wait_for()
        problems += list_grave_findings(page)
        page.keyboard.press("Escape")
    page.locator("[data-row] input").first.check()
    page.locator("#bulk-action").select_option("delete")
    page.get_by_role("button", name="Do it").click()
    page.locator("dialog#confirm").wait_for()

    assert problems + list_grave_findings(page) == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/jobs/00000000-0000-4000-8000-000000000000/", 404),
        ("/runs/%00%ff/", 404),
        ("/runs/unknown/", 404),
        ("/activity/99999999999999/", 404),
        ("/no/such/page/", 404),
        ("/jobs/?minScore=x&view=nothing", 400),
        ("/runs/?since=yesterday", 400),
        ("/jobs/?q=" + "%F0%9F%A6%84" * 300, 400),
    ],
)
def test_its_refusals_are_pages_too(
    open_context: NewContext, product: Product, complaints: Complaints, path: str, status: int
) -> None:
    # A date field says so where what was asked for is no date.
    complaints.allow(FAILED, "does not conform to the required format")
    page = open_context(viewport=NARROW).new_page()
    answer = page.goto(path)

    assert answer and answer.status == status
    assert page.locator("h1").inner_text()
    assert page.get_by_role("link", name="Jobs", exact=True).count() or page.locator("main a").count()
    assert [
        *list_markup_errors(answer.text()),
        *list_grave_findings(page),
        *filter(None, [measure_overflow(page)]),
    ] == []


def test_its_door_is_sound(open_context: NewContext, product: Product) -> None:
    for scheme in ("light", "dark"):
        page = open_context(storage_state=None, color_scheme=scheme, viewport=NARROW).new_page()
        for path in ("/sign-in/", "/sign-in/?token=nonsense"):
            answer = page.goto(path)
            assert answer and answer.status == 200
            assert [*list_grave_findings(page), *list_markup_errors(answer.text())] == []
