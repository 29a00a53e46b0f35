"""Every page, full of data: axe, strict HTML, nothing inline, nothing sideways, in both themes and both widths."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext, wait_for_live
from tests.browser.product import LONG_TITLE, Product
from tests.browser.sound import list_grave_findings, list_markup_errors, measure_overflow

pytestmark = pytest.mark.browser

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


def list_pages(product: Product) -> list[str]:
    ((run_id,),) = product.workspace.query(
        "SELECT min(run_id) FROM workflow_run_projections WHERE workflow_type = %s", "DiscoverWorkflow"
    )
    ((preparation,),) = product.workspace.query(
        "SELECT min(run_id) FROM workflow_run_projections WHERE workflow_type = %s", "JobPreparationWorkflow"
    )
    ((event_id,),) = product.workspace.query("SELECT max(id) FROM job_events WHERE event_type = %s", "JobScored")
    job_id = product.workspace.find_job(LONG_TITLE)
    return [
        *("/", "/jobs/", f"/jobs/{job_id}/", "/jobs/?q=zzzz", "/runs/", f"/runs/{run_id}/", f"/runs/{preparation}/"),
        *("/activity/", f"/activity/{event_id}/", f"/activity/?jobId={job_id}"),
        *(
            "/profile/",
            "/profile/import/",
            "/profile/versions/1/",
            "/profile/edit/experience/",
            "/discovery/",
            "/spend/",
            "/settings/",
        ),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_sound_with_data(open_context: NewContext, filled: Product, scheme: str) -> None:
    page = open_context(color_scheme=scheme, viewport=WIDE).new_page()
    problems: list[str] = []
    for path in list_pages(filled):
        answer = page.goto(path)
        assert answer and answer.status == 200, path
        problems += [*list_grave_findings(page), measure_overflow(page)]
        if scheme == "light":
            problems += [f"{path}: {error}" for error in list_markup_errors(answer.text())]
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]
        problems += [measure_overflow(page)]
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    assert "\n".join(filter(None, problems)) == ""


def test_the_operators_pages_are_sound(open_context: NewContext, filled: Product) -> None:
    """Admin; of the API's own page, whose colours are a library's, only that the content policy lets it be."""
    page = open_context(viewport=WIDE).new_page()
    problems: list[str] = []
    for path in ("/admin/", "/admin/operations/jobeventrow/", "/admin/operations/jobstagestate/"):
        answer = page.goto(path)
        assert answer and answer.status == 200, path
        problems += [*list_grave_findings(page), measure_overflow(page)]
    page.goto("/v1/docs/")
    expect(page.get_by_text("workflow-runs").first).to_be_visible()

    assert "\n".join(filter(None, problems)) == ""


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
    open_context: NewContext, product: Product, complaints: list[str], path: str, status: int
) -> None:
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
    assert all("Failed to load resource" in complaint for complaint in complaints)
    complaints.clear()


def test_its_door_is_sound(open_context: NewContext, product: Product) -> None:
    for scheme in ("light", "dark"):
        page = open_context(storage_state=None, color_scheme=scheme, viewport=NARROW).new_page()
        for path in ("/sign-in/", "/sign-in/?token=nonsense"):
            answer = page.goto(path)
            assert answer and answer.status == 200
            assert [*list_grave_findings(page), *list_markup_errors(answer.text())] == []
