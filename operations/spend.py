"""Reading today's spend: sums over the ledger's lanes of one UTC day."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from django.db.models import Sum

from operations.models import LlmSpend
from operations.settings_store import get_setting


@dataclass(frozen=True, slots=True)
class SpendToday:
    """``ceiling_usd`` 0 = unlimited. ``uses_models`` is false while every lane is built in: nothing can be spent."""

    day: date
    spent_usd: Decimal
    ceiling_usd: Decimal
    uses_models: bool


def read_spend_today(now: datetime) -> SpendToday:
    """One index lookup of the day's rows."""
    day = now.astimezone(UTC).date()
    spent = LlmSpend.objects.filter(day=day).aggregate(total=Sum("cost_usd"))["total"] or Decimal(0)
    uses_models = any(provider != "builtin" for provider in get_setting("provider").values())
    return SpendToday(day, spent, Decimal(str(get_setting("daily_budget_usd"))), uses_models)
