"""Every page of the product, full of data: the addresses, and the ways to those that no address leads to."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from playwright.sync_api import Page, Response

from tests.browser.product import LONG_TITLE, Product
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

TOO_LARGE = 4_200_000
DOCS = "/v1/docs/"
ADMIN_LOG = "/admin/operations/jobeventrow/"
PROFILE_PARTS = ("basics", "experience", "skills", "education", "credentials")
Way = Callable[[Page], Response]


def list_places(
    workspace: Workspace, *, title: str = LONG_TITLE, other_type: str = "JobPreparationWorkflow"
) -> dict[str, str]:
    """Name to path. ``title``: of the job that is looked at; ``other_type``: of the run that is, beside a discovery."""
    discovery, other = (
        workspace.query("SELECT min(run_id) FROM workflow_run_projections WHERE workflow_type = %s", kind)[0][0]
        for kind in ("DiscoverWorkflow", other_type)
    )
    ((event_id,),) = workspace.query("SELECT max(id) FROM job_events WHERE event_type = %s", "JobScored")
    job_id = workspace.find_job(title)
    return {
        "dashboard": "/",
        "jobs": "/jobs/",
        "jobs-filtered": "/jobs/?minScore=7&place=remote",
        "jobs-none": "/jobs/?q=zzzz",
        "job": f"/jobs/{job_id}/",
        "runs": "/runs/",
        "runs-filtered": "/runs/?status=failed",
        "run": f"/runs/{discovery}/",
        "run-preparation": f"/runs/{other}/",
        "activity": "/activity/",
        "activity-of-job": f"/activity/?jobId={job_id}",
        "event": f"/activity/{event_id}/",
        "profile": "/profile/",
        "profile-import": "/profile/import/",
        "profile-version": "/profile/versions/1/",
        **{f"profile-edit-{part}": f"/profile/edit/{part}/" for part in PROFILE_PARTS},
        "sources": "/discovery/",
        "spend": "/spend/",
        "settings": "/settings/",
        "api-docs": DOCS,
    }


def list_admin_places(page: Page, product: Product) -> dict[str, str]:
    """The admin's front, every table that it lists, a search and one row."""
    ((event_id,),) = product.workspace.query("SELECT max(id) FROM job_events WHERE event_type = %s", "JobScored")
    page.goto("/admin/")
    tables: list[str] = page.locator("#content-main th a").evaluate_all("(all) => all.map((one) => one.pathname)")
    return {
        "admin": "/admin/",
        **{f"admin{path.removeprefix('/admin').rstrip('/').replace('/', '-')}": path for path in tables},
        "admin-search": f"{ADMIN_LOG}?q=JobScored",
        "admin-row": f"{ADMIN_LOG}{event_id}/change/",
    }


def preview_import(page: Page) -> Response:
    """The sample profile with another name and one line less."""
    resume: dict[str, Any] = json.loads(SAMPLE_PROFILE.read_text(encoding="utf-8"))
    resume["basics"]["name"] = "Zoë Fernández"
    resume["work"][0]["highlights"].pop()
    page.goto("/profile/import/")
    page.locator("#text").fill(json.dumps(resume, ensure_ascii=False))
    return submit(page, "form.panel")


def refuse_import(page: Page) -> Response:
    page.goto("/profile/import/")
    page.locator("#text").fill('{"basics": {"name": 7}, "work": "none"}')
    return submit(page, "form.panel")


def ask_before_deleting(page: Page) -> Response:
    """As a browser without scripts is asked: a dialog would stand in for it."""
    page.goto("/jobs/")
    page.locator("a[data-row-link]").first.click()
    page.wait_for_url("**/jobs/*-*/")
    return submit(page, "form:has(button[value=delete])", button="button[value=delete]")


def ask_in_admin(page: Page) -> Response:
    """The confirmation of an action on one row."""
    page.goto("/admin/operations/jobstagestate/")
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").select_option(index=1)
    with page.expect_navigation() as navigation:
        page.locator("button[name=index]").click()
    return take(navigation.value)


def send_stale_form(page: Page) -> Response:
    """403: a form that is not ours."""
    page.goto("/profile/import/")
    page.locator("form.panel [name=csrfmiddlewaretoken]").evaluate("(field) => { field.value = ''; }")
    return submit(page, "form.panel")


def send_too_much(page: Page) -> Response:
    """413."""
    page.goto("/profile/import/")
    page.locator("#file").set_input_files(
        {"name": "resume.json", "mimeType": "application/json", "buffer": b" " * TOO_LARGE}
    )
    return submit(page, "form.panel")


WAYS: Mapping[str, tuple[Way, int]] = {
    "profile-preview": (preview_import, 200),
    "profile-refused": (refuse_import, 400),
    "confirm": (ask_before_deleting, 200),
    "admin-confirm": (ask_in_admin, 200),
    "error-403": (send_stale_form, 403),
    "error-413": (send_too_much, 413),
}


def submit(page: Page, form: str, *, button: str = "") -> Response:
    """Send a form past the scripts that would catch it."""
    with page.expect_navigation() as navigation:
        page.locator(form).first.evaluate(
            """(form, chosen) => {
                if (chosen) {
                    const button = form.querySelector(chosen);
                    const field = document.createElement("input");
                    Object.assign(field, { type: "hidden", name: button.name, value: button.value });
                    form.append(field);
                }
                HTMLFormElement.prototype.submit.call(form);
            }""",
            button,
        )
    return take(navigation.value)


def take(answer: Response | None) -> Response:
    assert answer is not None
    return answer


def render_errors(product: Product) -> dict[str, str]:
    """Name to HTML of the error pages that nothing in a sound product leads to."""
    program = (
        "import json\nfrom django.template.loader import render_to_string as render\n"
        "names = ('400', '403', '404', '500', '503')\n"
        "print(json.dumps({f'error-{name}': render(f'{name}.html') for name in names}))"
    )
    rendered: dict[str, str] = json.loads(product.workspace.run_python(program))
    return rendered
