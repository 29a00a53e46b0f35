"""Numbers with their units, as sentences carry them."""

from datetime import UTC, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.utils import timezone


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


def describe_distance(at: datetime, now: datetime) -> str:
    """``just now``, ``5 min ago``, ``in 3 h``, ``4 d ago``; from 30 days on, the date."""
    gap = now - at
    size = abs(gap)
    if size < timedelta(seconds=45):
        return "just now" if gap >= timedelta(0) else "in a moment"
    if size >= timedelta(days=30):
        return f"{at:%Y-%m-%d}"
    minutes = max(round(size.total_seconds() / 60), 1)
    if minutes < 60:
        words = f"{minutes} min"
    elif minutes < 60 * 24:
        words = f"{minutes // 60} h"
    else:
        words = f"{minutes // (60 * 24)} d"
    return f"{words} ago" if gap >= timedelta(0) else f"in {words}"


def describe_reset(now: datetime | None = None) -> str:
    """When the day's limits are new again, at midnight UTC: ``resets in 3 h``."""
    now = now or timezone.now()
    midnight = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time.min, tzinfo=UTC)
    return f"resets {describe_distance(midnight, now)}"
