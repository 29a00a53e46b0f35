"""The job list as a person works with it: filters, pages, views, exports and actions over many."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Complaints, NewContext
from tests.browser.product import Product

pytestmark = pytest.mark.browser

ROWS = "#jobs-list [data-row]"


def read_query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_it_keeps_the_filters_in_the_address(page: Page, filled: Product, open_context: NewContext) -> None:
    page.goto("/jobs/")
    every = page.locator(ROWS).count()
    page.get_by_role("link", name=re.compile("or above")).click()
    page.wait_for_url("**minScore=7**")
    page.locator("#words").fill("engineer")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url("**q=engineer**")
    assert read_query(page) == {"minScore": ["7"], "q": ["engineer"]}
    few = page.locator(ROWS).all_inner_texts()
    assert 0 < len(few) < every
    assert all("engineer" in text.lower() for text in few)

    shared = open_context().new_page()
    shared.goto(page.url)
    assert shared.locator(ROWS).count() == len(few)
    expect(shared.locator("#words")).to_have_value("engineer")
    expect(shared.locator(".pill[aria-current=true]")).to_have_text(re.compile("7 or above"))

    page.reload()
    assert page.locator(ROWS).count() == len(few)
    page.go_back()
    assert read_query(page) == {"minScore": ["7"]}
    page.go_back()
    assert page.locator(ROWS).count() == every


def test_it_filters_by_what_the_form_offers_and_goes_back(page: Page, filled: Product) -> None:
    page.goto("/jobs/")
    every = page.locator(ROWS).count()
    page.get_by_label("Place, or remote").fill("remote")
    page.get_by_label("Step", exact=True).select_option(label="Reading")
    page.get_by_label("State of the step").select_option("succeeded")
    page.get_by_label("Fit from").select_option("2")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url("**/jobs/?place=remote**")
    asked = {"place": ["remote"], "stage": ["enrich"], "state": ["succeeded"], "minScore": ["2"]}
    assert parse_qs(urlsplit(page.url).query, keep_blank_values=True) == asked
    few = page.locator(ROWS).count()
    assert 0 < few < every
    for row in page.locator(ROWS).all_inner_texts():
        assert "remote" in row.lower()

    set_now = page.get_by_role("list", name="Filters that are set")
    expect(set_now).to_contain_text("Place: remote")
    set_now.get_by_role("link", name="Remove the filter Place: remote").click()
    page.wait_for_url("**/jobs/?stage=enrich**")
    assert page.locator(ROWS).count() > few
    expect(page.get_by_label("Place, or remote")).to_have_value("")
    expect(page.get_by_label("State of the step")).to_have_value("succeeded")

    page.go_back()
    assert read_query(page) == asked
    expect(page.get_by_label("Place, or remote")).to_have_value("remote")
    assert page.locator(ROWS).count() == few
    page.get_by_role("link", name="Clear all").click()
    expect(page.locator(ROWS)).to_have_count(every)
    expect(page.get_by_role("list", name="Filters that are set")).to_have_count(0)


def test_every_filter_is_there_at_any_width(open_context: NewContext, filled: Product) -> None:
    for width in (1440, 390):
        for scripts in (True, False):
            page = open_context(viewport={"width": width, "height": 900}, java_script_enabled=scripts).new_page()
            page.goto("/jobs/")
            if width == 390:
                expect(page.get_by_label("Source", exact=True)).to_be_hidden()
                page.get_by_text("Step, fit and source").click()
            for name in ("Step", "State of the step", "Fit from", "Fit up to", "Source"):
                expect(page.get_by_label(name, exact=True)).to_be_visible()
            page.goto("/jobs/?stage=score&state=succeeded")
            expect(page.get_by_label("Step", exact=True)).to_be_visible()


def test_it_pages_by_key_and_back(page: Page, filled: Product) -> None:
    """The log, which is longer than a page in any workspace."""
    rows = "#activity-list [data-row]"
    page.goto("/activity/?type=StageStarted")
    seen = {row.get_attribute("id") for row in page.locator(rows).all()}
    assert len(seen) == 50
    page.get_by_role("link", name="More", exact=True).click()
    page.wait_for_url("**cursor=**")
    second = {row.get_attribute("id") for row in page.locator(rows).all()}
    assert second and not seen & second
    assert read_query(page)["type"] == ["StageStarted"]

    page.get_by_role("link", name="Back to the first").click()
    expect(page.locator("#activity-truth")).to_contain_text("more to come")
    assert {row.get_attribute("id") for row in page.locator(rows).all()} == seen


def test_it_keeps_a_view_under_a_name_and_forgets_it(page: Page, filled: Product) -> None:
    page.goto("/jobs/?documents=yes&sort=newest")
    page.locator("summary", has_text="Saved views").click()
    page.locator("#view-name").fill("Ready to send")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messages")).to_contain_text("Ready to send")

    page.goto("/jobs/")
    page.locator("summary", has_text="Saved views").click()
    page.get_by_role("link", name="Ready to send").click()
    page.wait_for_url("**documents=yes**")
    assert read_query(page) == {"documents": ["yes"], "sort": ["newest"]}
    page.locator("summary", has_text="Saved views").click()
    page.get_by_role("button", name="Forget Ready to send").click()
    expect(page.locator(".messages")).to_contain_text("forgotten")


def test_it_exports_what_is_shown(page: Page, filled: Product) -> None:
    page.goto("/jobs/?minScore=7")
    shown = page.locator(ROWS).count()
    table = page.request.get(str(page.get_by_role("link", name="CSV").get_attribute("href")))
    assert table.headers["content-type"].startswith("text/csv")
    assert len(table.text().strip().splitlines()) == shown + 1

    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    assert download.value.suggested_filename == "jobs.json"
    jobs = json.loads(download.value.path().read_text())["jobs"]
    assert len(jobs) == shown
    assert all(job["fitScore"] >= 7 for job in jobs)


def test_it_hides_the_ticked_jobs_and_shows_them_again(page: Page, filled: Product) -> None:
    before = filled.count_jobs()
    page.goto("/jobs/")
    ids = [str(page.locator(ROWS).nth(at).get_attribute("id")) for at in (0, 2)]
    for row in ids:
        page.locator(f"#{row} input").check()
    expect(page.locator("[data-ticked]")).to_have_text("2 ticked")
    choose(page, "hide")
    expect(page.locator(".messages")).to_contain_text("Hide: 2 jobs")
    assert filled.count_jobs() == before - 2

    page.get_by_role("link", name="Hidden").click()
    page.wait_for_url("**view=hidden**")
    assert {row.get_attribute("id") for row in page.locator(ROWS).all()} == set(ids)
    tick_all(page)
    page.locator("#bulk-scope").select_option("all")
    choose(page, "unhide")
    expect(page.locator(".messages")).to_contain_text("Unhide: 2 jobs")
    assert filled.count_jobs() == before


def test_it_acts_on_all_that_match(page: Page, filled: Product) -> None:
    before = filled.count_jobs()
    page.goto("/jobs/")
    tick_all(page)
    page.locator("#bulk-scope").select_option("all")
    choose(page, "hide")
    expect(page.locator(".messages")).to_contain_text(f"Hide: {before} jobs")
    assert filled.count_jobs() == 0

    page.goto("/jobs/?view=hidden")
    tick_all(page)
    page.locator("#bulk-scope").select_option("all")
    choose(page, "unhide")
    expect(page.locator(".messages")).to_contain_text(f"Unhide: {before} jobs")
    assert filled.count_jobs() == before


def test_it_asks_once_before_it_deletes(page: Page, filled: Product) -> None:
    before = filled.count_jobs()
    page.goto("/jobs/")
    title = page.locator(ROWS).nth(1).locator("a").first.inner_text()
    page.locator(ROWS).nth(1).locator("input").check()
    choose(page, "delete")
    dialog = page.locator("dialog#confirm")
    expect(dialog.locator("h2")).to_have_text("Delete 1 job?")
    expect(dialog).to_contain_text("it can be restored")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert filled.count_jobs() == before

    choose(page, "delete")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator(".messages")).to_contain_text("Delete: 1 job")
    page.goto("/jobs/?view=deleted")
    page.get_by_role("link", name=title, exact=True).click()
    page.get_by_role("button", name="Restore").click()
    expect(page.locator(".messages")).to_contain_text("Restore: 1 job")
    assert filled.count_jobs() == before


def test_it_says_what_an_address_got_wrong(page: Page, filled: Product, complaints: Complaints) -> None:
    complaints.allow("status of 400")
    answer = page.goto("/jobs/?minScore=eleven&cursor=nonsense")
    assert answer and answer.status == 400
    expect(page.locator(".note.person").first).to_be_visible()


def tick_all(page: Page) -> None:
    page.get_by_role("checkbox", name="Tick every job shown").check()


def choose(page: Page, action: str) -> None:
    page.locator("#bulk-action").select_option(action)
    page.locator("#bulk button[type=submit]").click()


def test_it_offers_the_remedy_beside_a_failure(page: Page, filled: Product) -> None:
    """Right-to-left text cannot be read back from a PDF, so that document is refused every time."""
    filled.workspace.wait_until(
        lambda: (
            sum(filled.workspace.count_stages("pdf").values()) >= filled.workspace.count_stages("cover")["succeeded"]
        ),
        what="every document was tried",
        seconds=120,
    )
    if {"failed", "exhausted", "running"}.isdisjoint(filled.workspace.count_stages("pdf")):
        pytest.skip("this Chromium's documents give right-to-left text back as it was")
    page.goto("/jobs/?needs=me")
    page.locator(ROWS).first.locator("a").first.click()
    again = page.get_by_role("button", name="Try again: PDF")
    expect(page.locator(".standing")).to_contain_text("Printing failed")
    expect(page.locator(".steps-done")).not_to_contain_text("Apply")

    again.click()
    expect(page.locator(".messages")).to_contain_text("The run has started")
    expect(page.locator(".steps-done")).to_contain_text("Printing", timeout=30_000)
    expect(again).to_be_visible(timeout=60_000)
