"""The spend page full of figures, and Settings with models chosen: sound in both themes and both widths."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.product import Product
from tests.browser.sound import list_grave_findings, list_markup_errors, measure_overflow

pytestmark = pytest.mark.browser

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
SPEND = """
from datetime import timedelta
from django.utils import timezone
from operations.settings_store import change_settings
from tests.operations.spending import attempt, pause, spend, use_model
use_model("analysis", "score", model="a-model-" + "with-a-long-name-" * 6)
change_settings({"lane_token_limits": {"score": 1200}}, actor="the test")
spend("21.50", cached_input_tokens=300, reasoning_output_tokens=50)
spend("3.00", day=timezone.now().date() - timedelta(days=2))
attempt("21.50", model="a-model-" + "with-a-long-name-" * 6)
attempt(http_status=429)
pause(next_probe_at=timezone.now() + timedelta(minutes=30))
"""
FORGET = """
from operations.models import LlmAttempt, LlmSpend, ProviderBreaker, StoredSetting
for table in (LlmAttempt, LlmSpend, ProviderBreaker):
    table.objects.all().delete()
StoredSetting.objects.filter(key__in=("provider", "model", "lane_token_limits")).delete()
"""


@pytest.fixture
def spent(product: Product) -> Iterator[Product]:
    product.workspace.run_python(SPEND)
    yield product
    product.workspace.run_python(FORGET)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_sound_with_figures(open_context: NewContext, spent: Product, scheme: str) -> None:
    page = open_context(color_scheme=scheme, viewport=WIDE).new_page()
    problems: list[str] = []
    for path in ("/spend/", "/settings/", "/jobs/"):
        answer = page.goto(path)
        assert answer and answer.status == 200, path
        problems += [*list_grave_findings(page), *list_markup_errors(answer.text()), measure_overflow(page)]
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]
        problems += [measure_overflow(page)]
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    assert "\n".join(filter(None, problems)) == ""


def test_it_is_reached_by_its_keys_and_says_what_stands_still(open_context: NewContext, spent: Product) -> None:
    page = open_context(viewport=WIDE).new_page()
    page.goto("/jobs/")
    page.keyboard.press("g")
    page.keyboard.press("m")

    expect(page.get_by_role("heading", name="Spend", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Ask it again now")).to_be_visible()
    expect(page.get_by_text("At its limit for today: scoring.")).to_be_visible()
    expect(page.locator("#standing-paused-openai")).to_have_count(1)
