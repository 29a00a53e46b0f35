"""What calls of models cost, beside what they were made for. What is unknown is said to be, and is never 0."""

from decimal import Decimal

from operations.wording.quantities import count_of, describe_money


def describe_cost(*, calls: int, unknown: int, cost_usd: Decimal, is_cut: bool = False) -> str:
    """``$0.12 for 14 calls of a model``; ``cost unknown`` where no call said what it used."""
    asked = f"{'at least ' if is_cut else ''}{count_of(calls, 'call')} of a model"
    if unknown == calls:
        return f"cost unknown for {asked}"
    words = f"{describe_least(cost_usd) if is_cut or unknown else describe_money(cost_usd)} for {asked}"
    return f"{words}, of which {unknown:,} did not say what they used" if unknown else words


def describe_short_cost(*, calls: int, unknown: int, cost_usd: Decimal) -> str:
    """``$0.12``, ``at least $0.12``, ``cost unknown``."""
    if unknown == calls:
        return "cost unknown"
    return describe_least(cost_usd) if unknown else describe_money(cost_usd)


def describe_spent(known_usd: Decimal, *, unknown: int, is_unknown: bool) -> str:
    """``$1.84``, ``at least $1.84`` where ``unknown`` calls did not say what they used, ``unknown`` where none did."""
    if is_unknown:
        return "unknown"
    return describe_least(known_usd) if unknown else describe_money(known_usd)


def describe_least(known_usd: Decimal) -> str:
    """``at least $0.12``; of less than a cent, ``more than $0.00``."""
    return "more than $0.00" if 0 < known_usd < Decimal("0.01") else f"at least {describe_money(known_usd)}"
