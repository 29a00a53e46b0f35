"""May this attempt go out? Asked as the preflight of each workflow that can spend, and again before each attempt.

Seed, "Spend Ceilings": the ceiling is met once what was spent is at it or over it; nothing is reserved, so one admitted
call may overshoot, and the next attempt is denied after it was counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from django.conf import settings

from operations.llm.errors import BudgetExceeded
from operations.models import LlmSpend
from operations.settings_store import get_setting, get_settings

BUILTIN = "builtin"


@dataclass(frozen=True, slots=True)
class Used:
    """What lanes used on one UTC day."""

    cost_usd: Decimal
    tokens: dict[str, int]


def utc_day(now: datetime) -> date:
    return now.astimezone(UTC).date()


def next_reset(now: datetime) -> datetime:
    """When the day's ceilings are new again: midnight UTC, wherever the operator sits."""
    return datetime.combine(utc_day(now) + timedelta(days=1), time.min, tzinfo=UTC)


def read_used(day: date) -> Used:
    """One index range of the ledger: a row for each lane."""
    rows = LlmSpend.objects.filter(tenant_id=settings.TENANT_ID, day=day)
    tokens: dict[str, int] = {}
    cost = Decimal(0)
    for lane, given, made, spent in rows.values_list("lane", "input_tokens", "output_tokens", "cost_usd"):
        tokens[lane] = given + made
        cost += spent
    return Used(cost, tokens)


def list_spending(lanes: Sequence[str]) -> list[str]:
    """Those of these lanes that a model was chosen for; the built-in engine cannot spend and is never denied."""
    return _pick_spending(lanes, get_setting("provider"))


def _pick_spending(lanes: Sequence[str], chosen: Mapping[str, str]) -> list[str]:
    return [lane for lane in lanes if chosen.get(lane, BUILTIN) != BUILTIN]


def check_budget(lane: str, *, now: datetime) -> None:
    """Raises ``BudgetExceeded`` where the day's money, or this lane's tokens, are used up."""
    ceiling, limits = get_settings("daily_budget_usd", "lane_token_limits")
    used = read_used(utc_day(now))
    _check_ceiling(ceiling, used, now)
    if _is_full(lane, limits, used):
        raise _make_lane_denial(lane, now)


def check_preflight(lanes: Sequence[str], *, now: datetime, begins_with: Sequence[str]) -> None:
    """As ``check_budget`` for a run that may use all of these lanes, before its first work; () is never denied.

    The seed has the preflight ask for "the requested lane", and one at its limit not block its peers. A stage may use
    several lanes, and a job of it not all of them (its analysis may be there), so lanes deny a run only where all that
    it ``begins_with`` are at their limits; what one of them holds back is decided before each attempt. A later lane at
    its limit does not stop what comes before it.
    """
    chosen, ceiling, limits = get_settings("provider", "daily_budget_usd", "lane_token_limits")
    spending = _pick_spending(lanes, chosen)
    if not spending:
        return
    used = read_used(utc_day(now))
    _check_ceiling(ceiling, used, now)
    first = _pick_spending(begins_with, chosen)
    if first and all(_is_full(lane, limits, used) for lane in first):
        raise _make_lane_denial(first[0], now)


def _check_ceiling(ceiling: float, used: Used, now: datetime) -> None:
    if ceiling and used.cost_usd >= Decimal(str(ceiling)):
        raise BudgetExceeded(
            "Today's limit for models is used up. It is new again at 00:00 UTC.", until=next_reset(now)
        )


def _is_full(lane: str, limits: Mapping[str, int], used: Used) -> bool:
    limit = limits.get(lane, 0)
    return bool(limit) and used.tokens.get(lane, 0) >= limit


def _make_lane_denial(lane: str, now: datetime) -> BudgetExceeded:
    return BudgetExceeded(
        f"Today's token limit of the {lane} lane is used up. It is new again at 00:00 UTC.",
        until=next_reset(now),
        lane=lane,
    )
