"""When the day's ceiling would be met, and every reason why nobody can say."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from operations.spend_pace import Forecast, NoForecast, forecast_ceiling
from operations.views.spend_words import describe_forecast

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 30, tzinfo=UTC)


def forecast(spent: str = "10", ceiling: str = "25", calls: int = 40, *, began: int = 120, last: int = 1) -> Forecast:
    """``began`` and ``last`` are minutes before noon."""
    return forecast_ceiling(
        spent=Decimal(spent),
        ceiling=Decimal(ceiling),
        calls=calls,
        first_at=NOON - timedelta(minutes=began) if calls else None,
        last_at=NOON - timedelta(minutes=last) if calls else None,
        now=NOON,
        resets_at=MIDNIGHT,
    )


def test_it_goes_on_at_the_pace_since_the_first_call() -> None:
    """Five dollars an hour, fifteen are left."""
    assert forecast().meets_at == NOON + timedelta(hours=3)


def test_it_says_what_the_day_comes_to_where_the_ceiling_is_not_met() -> None:
    found = forecast("1", began=60)

    assert (found.meets_at, found.reason, found.by_reset_usd) == (None, NoForecast.NOT_TODAY, Decimal(13))
    assert describe_forecast(found).detail == "at today's pace it comes to $13.00"


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (forecast(ceiling="0"), NoForecast.UNLIMITED),
        (forecast("25"), NoForecast.REACHED),
        (forecast("0"), NoForecast.NOTHING_SPENT),
        (forecast("0", calls=0), NoForecast.NOTHING_SPENT),
        (forecast(last=31), NoForecast.IDLE),
        (forecast(calls=4), NoForecast.TOO_EARLY),
        (forecast(began=9), NoForecast.TOO_EARLY),
    ],
)
def test_it_says_why_it_cannot_be_known(found: Forecast, reason: NoForecast) -> None:
    assert (found.meets_at, found.reason) == (None, reason)
    assert describe_forecast(found).detail
