"""What an answer is estimated to cost: cached input at its own rate and never twice, and nothing free by its name."""

from decimal import Decimal
from typing import Any

import pytest

from operations.llm.pricing import Price, estimate_llm_cost_usd
from operations.llm.providers import is_free
from operations.llm.usage import Usage
from operations.settings_store import change_settings

CACHED = Usage(2000, 0, cached_input_tokens=500, cache_write_tokens=300)
OPENROUTER = "https://openrouter.ai/api/v1"


def test_it_prices_1200_full_500_read_and_300_written_tokens() -> None:
    """Listed at $3 for a million of input, $0.30 read from the cache, $3.75 written to it."""
    price = estimate_llm_cost_usd(CACHED, provider="anthropic", model="claude-sonnet-4-6")
    assert price == Price(Decimal(1200 * 300 + 500 * 30 + 300 * 375) / 10**8, "list")


def test_it_prices_them_apart_by_family_too() -> None:
    price = estimate_llm_cost_usd(CACHED, provider="anthropic", model="claude-not-listed-yet")
    assert price == Price(Decimal(1200 * 300 + 500 * 75 + 300 * 375) / 10**8, "family")


@pytest.mark.parametrize(
    ("provider", "model", "priced_by"),
    [
        ("openai", "gpt-5-mini", "list"),
        ("google", "gemini-2.5-flash", "list"),
        ("openai", "my-own-qwen3:8b", "family"),
        ("openai", "wombat-7b", "generic"),
        ("openai", "", "generic"),
    ],
)
def test_it_goes_from_the_list_to_the_family_to_the_generic_rate(provider: str, model: str, priced_by: str) -> None:
    price = estimate_llm_cost_usd(Usage(1000, 1000), provider=provider, model=model)
    assert price.priced_by == priced_by
    assert price.cost_usd > 0


@pytest.mark.parametrize(
    "model", ["deepseek/deepseek-r1:free", "qwen/qwen3-32b:free", "wombat:free", "free", "gratis-0"]
)
@pytest.mark.parametrize("base_url", [OPENROUTER, "http://127.0.0.1:11434/v1", ""])
def test_no_model_is_free_because_of_its_name(model: str, base_url: str) -> None:
    price = estimate_llm_cost_usd(Usage(1000, 1000), provider="openai", model=model, base_url=base_url)
    assert price.cost_usd > 0
    assert price.priced_by != "free"


def test_it_never_rounds_a_use_down_to_nothing() -> None:
    price = estimate_llm_cost_usd(Usage(1, 0), provider="openai", model="gpt-5-nano")
    assert price.cost_usd == Decimal("0.000001")


def test_it_survives_parts_that_exceed_their_total() -> None:
    for model in ("claude-sonnet-4-6", "wombat"):
        usage = Usage(10, 5, cached_input_tokens=500, cache_write_tokens=300)
        assert estimate_llm_cost_usd(usage, provider="anthropic", model=model).cost_usd > 0


@pytest.mark.parametrize(
    ("provider", "url", "said", "free"),
    [
        ("openai", "http://127.0.0.1:11434/v1", True, True),
        ("openai", "http://127.0.0.1:11434/v1", False, False),
        ("openai", "", True, False),
        ("anthropic", "http://127.0.0.1:1/v1", True, False),
    ],
)
def test_only_the_operator_makes_a_server_of_their_own_free(
    provider: str, url: str, said: bool, free: bool, db: None, settings: Any
) -> None:
    settings.OPENAI_BASE_URL = settings.ANTHROPIC_BASE_URL = url
    change_settings({"self_hosted_free": said}, actor="tester")
    assert is_free(provider) is free


def test_what_is_free_is_priced_at_nothing_and_says_so() -> None:
    price = estimate_llm_cost_usd(Usage(1000, 1000), provider="openai", model="gpt-5", free=True)
    assert price == Price(Decimal(0), "free")
