"""Impatient people: a double click, the same form in two tabs."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Complaints, NewContext
from tests.browser.product import Product, slow_board_on

pytestmark = pytest.mark.browser


def test_a_double_click_starts_one_run(open_context: NewContext, filled: Product) -> None:
    page = open_context().new_page()
    with slow_board_on(filled):
        before = filled.count_discoveries()
        page.goto("/")
        page.get_by_role("button", name="Look for jobs now").dblclick()
        page.wait_for_url("**/runs/**")
        filled.cancel(page.url)
        filled.wait_for_end(page.url)
        assert filled.count_discoveries() == before + 1


def test_a_second_tab_joins_the_run_of_the_first(open_context: NewContext, filled: Product) -> None:
    context = open_context(java_script_enabled=False)
    first, second = context.new_page(), context.new_page()
    with slow_board_on(filled):
        before = filled.count_discoveries()
        first.goto("/")
        second.goto("/")
        first.get_by_role("button", name="Look for jobs now").click()
        expect(first.locator(".messages")).to_contain_text("The run has started")
        second.get_by_role("button", name="Look for jobs now").click()
        expect(second.locator(".messages")).to_contain_text("It was running already")
        assert first.url == second.url
        filled.cancel(first.url)
        filled.wait_for_end(first.url)
        assert filled.count_discoveries() == before + 1


def test_the_later_of_two_tabs_is_told_what_the_first_saved(
    open_context: NewContext, filled: Product, complaints: Complaints
) -> None:
    complaints.allow("status of 409")
    context = open_context()
    first, second = context.new_page(), context.new_page()
    for tab in (first, second):
        tab.goto("/profile/edit/basics/")
    summary = first.get_by_label("Summary")
    before = summary.input_value()
    summary.fill("The first tab wrote this.")
    first.locator("button.primary").click()
    expect(first.locator(".messages")).to_contain_text("was saved")
    second.get_by_label("Summary").fill("The second tab wrote this.")
    second.locator("button.primary").click()

    expect(second.locator("[role=alert]")).to_contain_text("saved elsewhere while you were editing")
    expect(second.locator("main")).to_contain_text("The first tab wrote this.")
    expect(second.get_by_label("Summary")).to_have_value("The second tab wrote this.")
    second.get_by_label("Summary").fill(before)
    second.locator("button.primary").click()
    expect(second.locator(".messages")).to_contain_text("was saved")
