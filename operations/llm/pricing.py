"""What an answer costs, in US dollars: an estimate for the ledger, not the provider's bill.

Rates come from genai-prices (MIT, kept up to date by the authors of pydantic-ai); a model that it does not list has the
coarse rate of its family, any other the generic one. No model is free because of its name.
"""

from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from operations.llm.usage import Usage

MICRO = Decimal("0.000001")
MILLION = Decimal(1_000_000)
CACHED_SHARE = Decimal("0.25")  # of the price of input: what was read from a cache
WRITTEN_SHARE = Decimal("1.25")  # and what was written into one


@dataclass(frozen=True, slots=True)
class Price:
    """``priced_by``: ``list`` (the published price), ``family``, ``generic`` or ``free`` (the operator said so)."""

    cost_usd: Decimal
    priced_by: str


#: Dollars for a million input and output tokens; the first part of a name that fits counts.
FAMILIES: tuple[tuple[str, Decimal, Decimal], ...] = (
    ("opus", Decimal(15), Decimal(75)),
    ("haiku", Decimal(1), Decimal(5)),
    ("claude", Decimal(3), Decimal(15)),
    ("nano", Decimal("0.10"), Decimal("0.40")),
    ("mini", Decimal("0.40"), Decimal("1.60")),
    ("gpt", Decimal("2.50"), Decimal(10)),
    ("flash", Decimal("0.30"), Decimal("2.50")),
    ("gemini", Decimal("1.25"), Decimal(10)),
    ("llama", Decimal("0.60"), Decimal("0.80")),
    ("mistral", Decimal(2), Decimal(6)),
    ("qwen", Decimal("0.60"), Decimal("1.80")),
    ("deepseek", Decimal("0.60"), Decimal("1.70")),
)
GENERIC = (Decimal(3), Decimal(15))


def estimate_llm_cost_usd(usage: Usage, *, provider: str, model: str, base_url: str = "", free: bool = False) -> Price:
    """``base_url`` is "" for the provider's own address; ``free`` only where the operator said so of their server."""
    if free:
        return Price(Decimal(0), "free")
    listed = _find_listed(usage, provider=provider, model=model, base_url=base_url)
    if listed:
        return Price(_round(listed), "list")
    name = model.casefold()
    for part, given, made in FAMILIES:
        if part in name:
            return Price(_apply(usage, given, made), "family")
    return Price(_apply(usage, *GENERIC), "generic")


def _find_listed(usage: Usage, *, provider: str, model: str, base_url: str) -> Decimal | None:
    """``None`` where the model is not listed, or is listed at nothing."""
    import genai_prices

    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_input_tokens or None,
        cache_write_tokens=usage.cache_write_tokens or None,
    )
    # Behind an address of the operator's own may be a listed service, or a server that borrows a known model's name.
    if base_url:
        with suppress(LookupError, ValueError):
            return genai_prices.calc_price(counted, model, provider_api_url=base_url).total_price or None
    with suppress(LookupError, ValueError):
        return genai_prices.calc_price(counted, model, provider_id=provider).total_price or None
    return None


def _apply(usage: Usage, given: Decimal, made: Decimal) -> Decimal:
    cached = min(usage.cached_input_tokens, usage.input_tokens)
    written = min(usage.cache_write_tokens, usage.input_tokens - cached)
    full = usage.input_tokens - cached - written
    cost = (full + cached * CACHED_SHARE + written * WRITTEN_SHARE) * given + usage.output_tokens * made
    return _round(cost / MILLION)


def _round(cost: Decimal) -> Decimal:
    """At least a millionth of a dollar where tokens were used: a call that cost something never shows as free."""
    return max(cost.quantize(MICRO, rounding=ROUND_HALF_UP), MICRO) if cost else Decimal(0)
