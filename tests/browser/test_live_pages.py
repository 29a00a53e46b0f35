"""A run watched live: pages that change by themselves, and what they say when something is gone."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Complaints, NewContext, await_claim, wait_for_live
from tests.browser.product import SLOW_BOARD, Product, slow_board_on
from tests.processes import wait_until
from tests.worker.boards import list_path

pytestmark = pytest.mark.browser

HEARTBEAT_LOST_SECONDS = 60
TOPBAR_MS = 31_000
TEMPORAL_LOST_MS = 60_000


def test_it_changes_rows_in_place_and_keeps_what_the_reader_did(page: Page, filled: Product) -> None:
    """A job is hidden and another one reset elsewhere while a person reads, ticks and has scrolled."""
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto("/jobs/")
    wait_for_live(page)
    page.evaluate("window.untouched = true")
    rows = page.locator("[data-row]")
    gone, ticked = rows.nth(0), rows.nth(4)
    gone_id, ticked_id = str(gone.get_attribute("id")), str(ticked.get_attribute("id"))
    page.locator(f"#{ticked_id} input").check()
    page.locator(f"#{ticked_id} a").focus()
    page.evaluate("window.scrollTo(0, 300)")
    page.mouse.move(5, 495)

    hide(filled, gone_id.removeprefix("job-row-"), hidden=True)
    expect(page.locator(f"#{gone_id}")).to_have_count(0)

    assert page.evaluate("window.scrollY") > 0
    assert page.locator(f"#{ticked_id} input").is_checked()
    assert page.evaluate(f"document.activeElement.closest('tr')?.id === '{ticked_id}'")
    expect(page.locator("[data-ticked]")).to_have_text("1 ticked")
    hide(filled, gone_id.removeprefix("job-row-"), hidden=False)
    expect(page.locator(f"#{gone_id}")).to_have_count(1)
    assert page.evaluate("window.untouched")


def test_it_follows_a_whole_run_on_three_pages(open_context: NewContext, filled: Product) -> None:
    """Dashboard, runs and the run's own page; a board that hangs is taken away by canceling."""
    context = open_context()
    dashboard, runs, run = context.new_page(), context.new_page(), context.new_page()
    for tab, path in ((dashboard, "/"), (runs, "/runs/")):
        tab.goto(path)
        wait_for_live(tab)
        tab.evaluate("window.untouched = true")
    newest = str(runs.locator("[data-row]").first.get_attribute("id"))
    read_before = filled.boards.count_requests(list_path(SLOW_BOARD))
    with slow_board_on(filled):
        run.goto("/")
        run.get_by_role("button", name="Look for jobs now").click()
        run.wait_for_url("**/runs/**")
        wait_for_live(run)
        run.evaluate("window.untouched = true")
        expect(runs.locator(f"[data-row]:first-child:not(#{newest})")).to_contain_text("Discovery")
        expect(dashboard.locator(".truth")).to_contain_text("1 run at work")
        expect(dashboard.get_by_role("link", name="Watch the discovery")).to_be_visible()
        await_claim(
            run, lambda: filled.boards.count_requests(list_path(SLOW_BOARD)) > read_before, what="the board is asked"
        )

        run.get_by_role("button", name="Cancel run").click()
        dialog = run.locator("dialog#confirm")
        expect(dialog).to_contain_text("What it has finished is kept")
        dialog.get_by_role("button", name="Keep everything as it is").click()
        expect(run.get_by_role("button", name="Cancel run")).to_be_focused()
        assert run.evaluate("window.untouched")
        run.get_by_role("button", name="Cancel run").click()
        dialog.locator("[value=yes]").click()

        expect(run.locator(".messages")).to_contain_text("Asked to stop")
        expect(run.locator("h1 .chip", has_text="Canceled")).to_be_visible()
        expect(run.locator("main")).not_to_contain_text("Waits its turn")
        expect(runs.locator("[data-row]").first).to_contain_text("Canceled")
        expect(dashboard.locator(".truth")).not_to_contain_text("at work")
        assert dashboard.evaluate("window.untouched") and runs.evaluate("window.untouched")


@pytest.mark.worker
def test_it_says_when_the_web_process_is_gone_and_heals(page: Page, filled: Product, complaints: Complaints) -> None:
    page.goto("/jobs/")
    wait_for_live(page)
    page.evaluate("window.untouched = true")

    complaints.allow("net::ERR_")
    with filled.part_killed("web"):
        expect(page.locator("[data-connection]")).to_have_text("Connection lost")
        expect(page.locator("body")).to_have_class(re.compile("is-lost"))
        expect(page.locator("[data-stale-note]")).to_contain_text(re.compile(r"may be out of date; it is of \d\d:\d\d"))
        expect(page.locator("#jobs-list")).to_have_class(re.compile("is-stale"))

    expect(page.locator("[data-connection]")).to_have_text("Live", timeout=40_000)
    expect(page.locator("[data-stale-note]")).to_be_hidden()
    expect(page.locator(".is-stale")).to_have_count(0)
    assert page.evaluate("window.untouched")


@pytest.mark.worker
def test_it_says_when_the_worker_is_gone_and_heals(page: Page, filled: Product) -> None:
    page.clock.install()
    page.goto("/")
    wait_for_live(page)
    expect(page.locator("#topbar")).to_contain_text(re.compile(r"Worker \d+/\d+"))

    with filled.part_killed("worker"):
        filled.age_heartbeats(seconds=HEARTBEAT_LOST_SECONDS)
        page.clock.fast_forward(TOPBAR_MS)
        expect(page.locator("#topbar")).to_contain_text("No worker")
        expect(page.locator("main")).to_contain_text("No worker is running")

    wait_until(lambda: bool(filled.workspace.list_living_workers()), what="a worker's heartbeat", seconds=40)
    page.clock.fast_forward(TOPBAR_MS)
    expect(page.locator("#topbar")).to_contain_text(re.compile(r"Worker \d+/\d+"))


@pytest.mark.worker
def test_it_says_when_temporal_is_gone_and_heals(page: Page, filled: Product) -> None:
    """On a page that was open before; nothing tells it but its own asking."""
    page.goto("/runs/")
    wait_for_live(page)
    expect(page.locator("#topbar")).not_to_contain_text("Temporal")

    with filled.part_killed("temporal"):
        expect(page.locator("#topbar")).to_contain_text("Temporal does not answer", timeout=TEMPORAL_LOST_MS)
        expect(page.locator("main")).to_contain_text(re.compile(r"could not be checked since \d\d:\d\d"))
        expect(page.locator("main")).to_contain_text("manage.py up")

    expect(page.locator("#topbar")).not_to_contain_text("Temporal", timeout=TEMPORAL_LOST_MS)
    expect(page.locator("main")).not_to_contain_text("could not be checked")


def hide(product: Product, job_id: str, *, hidden: bool) -> None:
    product.workspace.run_python(
        "from uuid import UUID\nfrom discovery.services.jobs import set_hidden\n"
        f"set_hidden([UUID('{job_id}')], hidden={hidden})"
    )
