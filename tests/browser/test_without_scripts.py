"""Scripts off: every page complete, every action possible."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.product import Product, slow_board_on

pytestmark = pytest.mark.browser

PAGES = ("/", "/jobs/", "/runs/", "/activity/", "/profile/", "/discovery/", "/settings/")


@pytest.fixture
def plain(open_context: NewContext) -> Page:
    return open_context(java_script_enabled=False).new_page()


def test_every_page_is_complete(plain: Page, filled: Product) -> None:
    for path in PAGES:
        answer = plain.goto(path)
        assert answer and answer.status == 200
        expect(plain.get_by_role("heading", level=1)).to_be_visible()
        expect(plain.get_by_role("link", name="Dashboard")).to_be_visible()
        if path in ("/jobs/", "/runs/", "/activity/"):
            expect(plain.locator("main time[datetime]").first).not_to_be_empty()
        expect(plain.locator("[data-theme-switch], [data-connection-state]").first).to_be_hidden()


def test_it_hides_ticked_jobs(plain: Page, filled: Product) -> None:
    before = filled.count_jobs()
    plain.goto("/jobs/")
    plain.locator("[data-row] input").nth(0).check()
    plain.locator("[data-row] input").nth(1).check()
    plain.locator("#bulk-action").select_option("hide")
    plain.get_by_role("button", name="Do it").click()
    expect(plain.locator(".messages")).to_contain_text("Hide: 2 jobs")
    assert filled.count_jobs() == before - 2

    plain.goto("/jobs/?view=hidden")
    plain.locator("#bulk-scope").select_option("all")
    plain.locator("#bulk-action").select_option("unhide")
    plain.get_by_role("button", name="Do it").click()
    expect(plain.locator(".messages")).to_contain_text("Unhide: 2 jobs")
    assert filled.count_jobs() == before


def test_it_asks_on_a_page_before_it_deletes(plain: Page, filled: Product) -> None:
    before = filled.count_jobs()
    plain.goto("/jobs/")
    plain.locator("[data-row] a").first.click()
    job = plain.url
    plain.get_by_role("button", name="Delete").click()
    expect(plain.get_by_role("heading", level=1)).to_contain_text("Delete")
    expect(plain.locator("main")).to_contain_text("it can be restored")
    plain.get_by_role("link", name="Keep everything as it is").click()
    assert plain.url == job
    assert filled.count_jobs() == before

    plain.get_by_role("button", name="Delete").click()
    plain.get_by_role("button", name="Delete").click()
    expect(plain.locator(".messages")).to_contain_text("Delete: 1 job")
    plain.get_by_role("button", name="Restore").click()
    expect(plain.locator(".messages")).to_contain_text("Restore: 1 job")
    assert filled.count_jobs() == before


def test_it_starts_and_cancels_a_run(plain: Page, filled: Product) -> None:
    with slow_board_on(filled):
        plain.goto("/")
        plain.get_by_role("button", name="Look for jobs now").click()
        expect(plain.locator(".messages")).to_contain_text("The run has started")
        plain.get_by_role("button", name="Cancel run").click()
        expect(plain.get_by_role("heading", level=1)).to_have_text("Cancel this run?")
        plain.get_by_role("button", name="Cancel the run").click()
        expect(plain.locator(".messages")).to_contain_text("Asked to stop")
        filled.wait_for_end(plain.url)
        plain.reload()
        expect(plain.locator("h1 .chip")).to_have_text(re.compile("Canceled"))


def test_it_reads_evidence_and_keeps_a_view(plain: Page, filled: Product) -> None:
    plain.goto("/jobs/?documents=yes")
    plain.locator("[data-row] a").first.click()
    plain.locator("summary", has_text="in your profile").first.click()
    expect(plain.locator("details[open] li").first).to_be_visible()

    plain.goto("/jobs/?q=engineer")
    plain.locator("summary", has_text="Saved views").click()
    plain.locator("#view-name").fill("Plain")
    plain.get_by_role("button", name="Save", exact=True).click()
    plain.locator("summary", has_text="Saved views").click()
    plain.get_by_role("button", name="Forget Plain").click()
    expect(plain.locator(".messages")).to_contain_text("forgotten")
