"""The API's browsable page in a real browser, under the site's content security policy."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.template import Template
from tests.webserver import Web, running_web

pytestmark = [pytest.mark.browser, pytest.mark.worker, pytest.mark.sqlite_alone]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, template: Template) -> Iterator[Web]:
    with running_web(tmp_path_factory.mktemp("docs") / "home", template) as web:
        yield web


@pytest.fixture
def page(web: Web, new_context: Callable[[], BrowserContext]) -> Page:
    """Of a browser that is signed in."""
    cookies = [{"name": name, "value": value, "url": web.url} for name, value in web.operator().cookies.items()]
    context = new_context()
    context.add_cookies(cookies)  # type: ignore[arg-type]
    return context.new_page()


def test_its_docs_work_within_the_policy(web: Web, page: Page) -> None:
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    answer = page.goto(f"{web.url}/v1/docs/")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    operation = page.locator("#operations-settings-changeSettings")
    operation.locator(".opblock-summary-control").click()
    operation.locator(".try-out__btn").click()
    operation.locator("textarea").first.fill('{"min_fit_score": 6}')
    operation.locator(".execute").click()
    operation.locator(".live-responses-table tbody .response-col_status", has_text="200").first.wait_for()
    values = {row["key"]: row["value"] for row in web.script().get("/v1/settings").json()["settings"]}
    assert values["min_fit_score"] == 6, "the page's own CSRF token was sent"
    assert complaints == []


def test_a_stranger_is_led_to_the_sign_in_page(web: Web) -> None:
    answer = web.visitor().get("/v1/docs/")
    assert (answer.status_code, answer.headers["location"]) == (302, "/sign-in/?next=%2Fv1%2Fdocs%2F")
    assert web.visitor().get("/v1/schema/").status_code == 401
