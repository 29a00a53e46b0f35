"""Who may look: links, passwords, sign-out and sessions that are over."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Complaints, NewContext, enter, wait_for_live
from tests.browser.product import Product

pytestmark = pytest.mark.browser


def test_it_signs_out_and_then_shows_nothing(
    open_context: NewContext, browser: Browser, product: Product, complaints: Complaints
) -> None:
    complaints.allow("status of 401")  # the page that it goes back to asks for what is new
    page = open_context(storage_state=enter(browser, product)).new_page()
    page.goto("/")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator(".messages")).to_contain_text("You are signed out")

    page.go_back()
    page.goto("/jobs/?minScore=7")
    expect(page).to_have_url(re.compile(r"/sign-in/\?next="))
    expect(page.get_by_role("navigation", name="Pages")).to_have_count(0)


def test_it_uses_a_link_once(open_context: NewContext, product: Product, complaints: Complaints) -> None:
    complaints.allow("status of 403")
    link = product.make_link()
    first, second = open_context(storage_state=None).new_page(), open_context(storage_state=None).new_page()
    first.goto(link)
    first.get_by_role("button", name="Sign in").click()
    first.get_by_role("navigation", name="Pages").wait_for()

    second.goto(link)
    second.get_by_role("button", name="Sign in").click()
    expect(second.locator("[role=alert]")).to_contain_text("used before")


def test_it_says_that_a_session_is_over(
    open_context: NewContext, browser: Browser, product: Product, complaints: Complaints
) -> None:
    context = open_context(storage_state=enter(browser, product))
    page = context.new_page()
    page.goto("/runs/")
    wait_for_live(page)
    complaints.allow("status of 401")
    # In another tab: taken away here alone, the cookie could come back with an answer that is still on its way.
    other = context.new_page()
    other.goto("/profile/")
    other.get_by_role("button", name="Sign out").click()
    expect(other).to_have_url(re.compile("/sign-in/"))

    page.evaluate("document.querySelector('#topbar').dataset.refresh = '1'")
    expect(page.locator("[data-connection]")).to_have_text("Signed out")
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page).to_have_url(re.compile("/sign-in/"))


def test_it_slows_guessing_down_and_says_for_how_long(
    open_context: NewContext, product: Product, complaints: Complaints
) -> None:
    complaints.allow("status of 403", "status of 429")
    guesser = open_context(storage_state=None).new_page()
    guesser.goto("/sign-in/")
    for _ in range(6):
        guesser.get_by_label("Name").fill("somebody")
        guesser.get_by_label("Password").fill("a guess")
        guesser.get_by_role("button", name="Sign in").click()
        expect(guesser.locator("[role=alert]")).to_be_visible()
    expect(guesser.locator("[role=alert]")).to_contain_text(re.compile(r"Too many failed attempts\. Try again in \d+ "))
    expect(guesser.locator("[role=alert]")).to_contain_text("sign_in_link")
