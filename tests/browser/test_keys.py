"""Everything by keyboard: search, lists, jumps, the list of keys and the palette."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.product import Product

pytestmark = pytest.mark.browser


def test_it_opens_a_job_and_jumps_to_the_runs(page: Page, filled: Product) -> None:
    page.goto("/jobs/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    row = page.locator("[data-row].is-active")
    expect(row).to_have_count(1)
    title = row.locator("a").first.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}/"))
    expect(page.get_by_role("heading", level=1)).to_have_text(title)

    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/runs/")


def test_it_searches_with_the_slash(page: Page, filled: Product) -> None:
    page.goto("/runs/")
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("backend g r j")
    assert page.locator("#search").input_value() == "backend g r j"
    page.locator("#search").fill("backend")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/?q=backend")
    expect(page.locator("[data-row]").first).to_contain_text(re.compile("backend", re.IGNORECASE))


def test_it_lists_its_keys(page: Page, product: Product) -> None:
    page.goto("/")
    page.keyboard.press("?")
    keys = page.locator("dialog#keys")
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("Go to a page, a job or a run")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_it_goes_to_a_job_and_to_a_run_from_the_palette(page: Page, filled: Product) -> None:
    page.goto("/")
    page.keyboard.press("Control+k")
    palette = page.locator("dialog#palette")
    expect(palette.locator("input")).to_be_focused()
    page.keyboard.type("telemetry")
    expect(palette.get_by_role("option").first).to_contain_text("Telemetry")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}/"))

    page.keyboard.press("Control+k")
    page.keyboard.type("discover-")
    option = palette.get_by_role("option").filter(has_text="discover-local").first
    expect(option).to_be_visible()
    option.click()
    page.wait_for_url("**/runs/*/")


def test_its_focus_is_never_lost(page: Page, filled: Product) -> None:
    """Tab reaches the skip link first, and it leads to the content."""
    page.goto("/jobs/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
