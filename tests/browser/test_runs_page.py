"""The run list and the log as a person filters them: all of it in the address, and back again."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.product import Product

pytestmark = pytest.mark.browser

ROWS = "#runs-list [data-row]"


def read_query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def list_ids(page: Page) -> list[str | None]:
    return [row.get_attribute("id") for row in page.locator(ROWS).all()]


def test_it_keeps_the_filters_in_the_address_and_goes_back(
    page: Page, filled: Product, open_context: NewContext
) -> None:
    page.goto("/runs/")
    every = page.locator(ROWS).all_inner_texts()
    page.get_by_role("link", name=re.compile("^Done")).click()
    page.wait_for_url("**status=succeeded**")
    page.locator("#type").select_option("JobPreparationWorkflow")
    page.locator("#sort").select_option("longest")
    page.locator("#words").fill("engineer")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url("**q=engineer**")
    assert read_query(page).items() >= {
        "status": ["succeeded"], "type": ["JobPreparationWorkflow"], "sort": ["longest"], "q": ["engineer"],
    }.items()  # fmt: skip
    few = page.locator(ROWS).all_inner_texts()
    assert 0 < len(few) < len(every)
    assert all("engineer" in text.lower() for text in few)

    shown = list_ids(page)
    shared = open_context().new_page()
    shared.goto(page.url)
    assert shared.locator(ROWS).count() == len(few)
    expect(shared.locator("#sort")).to_have_value("longest")
    expect(shared.locator(".pill[aria-current=true]")).to_have_text(re.compile("Done"))

    page.get_by_role("link", name="Remove the filter “engineer”").click()
    page.wait_for_url(lambda url: "q=engineer" not in url)
    assert read_query(page)["sort"] == ["longest"]
    page.go_back()
    expect(page.locator("#words")).to_have_value("engineer")
    assert list_ids(page) == shown
    page.go_back()
    assert read_query(page) == {"status": ["succeeded"]}
    page.get_by_role("link", name=re.compile("^All")).click()
    page.wait_for_url(re.compile(r"/runs/$"))
    assert len(page.locator(ROWS).all()) == len(every)


def test_it_filters_without_scripts_and_on_a_narrow_screen(filled: Product, open_context: NewContext) -> None:
    page = open_context(java_script_enabled=False, viewport={"width": 390, "height": 844}).new_page()
    page.goto("/runs/")
    page.locator("#sort").select_option("oldest")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url("**sort=oldest**")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(ROWS).first.get_by_role("link").first.click()
    page.locator("summary", has_text="Technical details").click()
    expect(page.locator("code.command")).to_contain_text("temporal workflow show --address 127.0.0.1:")


def test_a_job_and_a_run_are_filters_of_the_activity(page: Page, filled: Product) -> None:
    page.goto("/activity/")
    page.locator("#run").fill("discover-local")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.wait_for_url("**workflowId=discover-local**")
    page.get_by_role("link", name="Remove the filter Workflow: discover-local").click()
    page.wait_for_url(re.compile(r"/activity/$"))
    page.locator("#job").fill("engineer")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_text("Several jobs match").wait_for()
    page.locator(".note li a").first.click()
    page.wait_for_url("**jobId=**")
    expect(page.locator(".set")).to_contain_text("Job: ")
