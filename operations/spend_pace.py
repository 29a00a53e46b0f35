"""When the day's ceiling would be met if spending went on as it did today, or why nobody can say."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final

from operations.queries.spend import ModelShares
from operations.spend import SpendToday

FEWEST_CALLS: Final = 5
SHORTEST: Final = timedelta(minutes=10)
#: Nothing was asked for so long: the work is over, and its pace says nothing about what comes.
IDLE_AFTER: Final = timedelta(minutes=30)


class NoForecast(StrEnum):
    UNLIMITED = "unlimited"
    REACHED = "reached"
    NOTHING_SPENT = "nothing_spent"
    UNKNOWN = "unknown"
    IDLE = "idle"
    TOO_EARLY = "too_early"
    NOT_TODAY = "not_today"


@dataclass(frozen=True, slots=True)
class Forecast:
    """``meets_at`` is known, or ``reason`` says why not. ``by_reset_usd`` is what the day would come to."""

    meets_at: datetime | None = None
    reason: NoForecast | None = None
    by_reset_usd: Decimal | None = None


def forecast_day(today: SpendToday, shares: ModelShares, *, now: datetime) -> Forecast:
    if today.is_unknown and today.ceiling_usd:
        return Forecast(reason=NoForecast.UNKNOWN)
    return forecast_ceiling(
        spent=today.spent_usd,
        ceiling=today.ceiling_usd,
        calls=shares.calls,
        first_at=shares.first_at,
        last_at=shares.last_at,
        now=now,
        resets_at=today.resets_at,
    )


def forecast_ceiling(
    *,
    spent: Decimal,
    ceiling: Decimal,
    calls: int,
    first_at: datetime | None,
    last_at: datetime | None,
    now: datetime,
    resets_at: datetime,
) -> Forecast:
    """From today's first call until now, at the same pace until the day ends."""
    if not ceiling:
        return Forecast(reason=NoForecast.UNLIMITED)
    if spent >= ceiling:
        return Forecast(reason=NoForecast.REACHED)
    if not spent or first_at is None or last_at is None:
        return Forecast(reason=NoForecast.NOTHING_SPENT)
    if now - last_at > IDLE_AFTER:
        return Forecast(reason=NoForecast.IDLE)
    if calls < FEWEST_CALLS or now - first_at < SHORTEST:
        return Forecast(reason=NoForecast.TOO_EARLY)
    a_second = spent / Decimal((now - first_at).total_seconds())
    by_reset = spent + a_second * Decimal((resets_at - now).total_seconds())
    if by_reset < ceiling:
        return Forecast(reason=NoForecast.NOT_TODAY, by_reset_usd=by_reset)
    return Forecast(now + timedelta(seconds=float((ceiling - spent) / a_second)), by_reset_usd=by_reset)
