"""Numbers with their units, as sentences carry them."""

from decimal import ROUND_HALF_UP, Decimal


def count_of(number: int, singular: str, plural: str = "") -> str:
    """``1 job``, ``1,204 jobs``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def describe_seconds(seconds: float) -> str:
    """A length of time in its two largest units: ``0.4 s``, ``41 s``, ``3 min 5 s``, ``2 h 10 min``, ``4 d``."""
    if 0 < seconds < 0.05:
        return "under 0.1 s"
    if seconds < 10:
        return f"{max(seconds, 0):.1f}".rstrip("0").rstrip(".") + " s"
    whole = round(seconds)
    for size, unit, part_size, part_unit in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            part = whole % size // part_size
            return f"{whole // size} {unit}" + (f" {part} {part_unit}" if part else "")
    return f"{whole} s"


def describe_money(amount: Decimal | float | None) -> str:
    """Dollars to the cent; what is smaller but spent says so, and an unknown cost is never 0."""
    if amount is None:
        return "cost unknown"
    value = Decimal(str(amount))
    if 0 < value < Decimal("0.01"):
        return "under $0.01"
    return f"${value.quantize(Decimal('0.01'), ROUND_HALF_UP):,}"
