"""From nothing to documents, as a person who has just installed the product goes through it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, wait_for_live
from tests.browser.product import ODD_BOARD, Product
from tests.browser.sound import list_grave_findings, list_markup_errors, measure_overflow
from tests.worker.workspace import SAMPLE_PROFILE

pytestmark = pytest.mark.browser

EMPTY_PAGES = ("/", "/jobs/", "/runs/", "/activity/", "/profile/", "/profile/import/", "/discovery/", "/settings/")
A_RUN_MS = 240_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_sound_while_it_is_empty(open_context: NewContext, scheme: str) -> None:
    page = open_context(color_scheme=scheme, viewport={"width": 390, "height": 844}).new_page()
    problems: list[str] = []
    for path in EMPTY_PAGES:
        answer = page.goto(path)
        assert answer and answer.status == 200, path
        problems += [*list_grave_findings(page), *list_markup_errors(answer.text()), measure_overflow(page)]

    assert "\n".join(filter(None, problems)) == ""


def test_it_leads_from_nothing_to_documents(open_context: NewContext, product: Product) -> None:
    page = open_context(storage_state=None).new_page()
    page.goto(product.find_first_link())
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Three steps to the first run")
    expect(page.locator(".steps > li")).to_have_count(3)

    import_profile(page)
    add_samples(page)
    product.add_board(ODD_BOARD)
    start_and_watch(page)
    look_at_jobs(page)
    look_at_documents(page)


def import_profile(page: Page) -> None:
    page.get_by_role("link", name="Open the profile").click()
    page.get_by_role("link", name="Import a JSON Resume").click()
    page.locator("#file").set_input_files(SAMPLE_PROFILE)
    page.get_by_role("button", name="Show what it changes").click()
    page.get_by_role("button", name="Store it as version 1").click()
    expect(page.locator(".messages")).to_be_visible()


def add_samples(page: Page) -> None:
    page.get_by_role("link", name="Dashboard").click()
    expect(page.locator(".steps > li").first).to_contain_text("Done")
    page.get_by_role("link", name="Choose boards").click()
    page.get_by_role("button", name="Add the sample boards").or_(
        page.get_by_role("link", name="Add the sample boards")
    ).first.click()
    expect(page.locator(".messages")).to_be_visible()


def start_and_watch(page: Page) -> None:
    page.get_by_role("link", name="Dashboard").click()
    page.get_by_role("button", name=re.compile("Look for jobs|Start")).click()
    page.wait_for_url("**/runs/**")
    wait_for_live(page)
    page.evaluate("window.untouched = true")
    expect(page.locator("main .chip.good").first).to_be_visible(timeout=A_RUN_MS)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=A_RUN_MS)
    expect(page.locator("main")).to_contain_text("postings")
    expect(page.locator(".flow > div").last).to_contain_text(
        re.compile(r"Documents ready\s+(1\d|2\d) of 31"), timeout=A_RUN_MS
    )
    assert page.evaluate("window.untouched"), "the run's page was loaded again"


def look_at_jobs(page: Page) -> None:
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.locator("[data-row] .score.good").first).to_be_visible(timeout=A_RUN_MS)
    expect(page.locator(".strip .done").first).to_be_visible()


def look_at_documents(page: Page) -> None:
    page.goto("/jobs/?documents=yes")
    page.locator("[data-row] a").first.click()
    expect(page.get_by_role("heading", name="Fit")).to_be_visible()
    expect(page.get_by_text("in your profile").first).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("Resume, version"))).to_be_visible()
    expect(page.get_by_role("region", name="The posting's text")).not_to_be_empty()
    for link in page.get_by_role("link", name=re.compile(r"\(PDF\)")).all():
        answer = page.request.get(str(link.get_attribute("href")))
        assert answer.headers["content-type"] == "application/pdf"
        assert answer.body().startswith(b"%PDF-")
