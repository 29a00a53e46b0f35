"""Today's spend against its limits: sums over the ledger's lanes of one UTC day."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Final

from operations.contracts import LANES
from operations.llm.authority import next_reset
from operations.models import LlmSpend
from operations.queries.spend import count_unknown, list_lane_rows
from operations.settings_store import get_settings

NEARLY: Final = Decimal("0.8")


class SpendLevel(StrEnum):
    """How near a limit is: from 80 % on it is told."""

    WITHIN = "within"
    NEAR = "near"
    REACHED = "reached"


@dataclass(frozen=True, slots=True)
class LaneUse:
    """What a lane used today; ``limit`` 0 = none. What ``unknown`` of its calls used is in none of the figures."""

    lane: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    reasoning_output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    limit: int = 0
    unknown: int = 0

    @property
    def is_unknown(self) -> bool:
        """Nothing that it used was told: its figures are no zeros."""
        return bool(self.unknown) and not self.tokens and not self.cost_usd

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def left(self) -> int | None:
        """``None`` = no limit."""
        return max(self.limit - self.tokens, 0) if self.limit else None

    @property
    def level(self) -> SpendLevel:
        return _rate(Decimal(self.tokens), Decimal(self.limit))


@dataclass(frozen=True, slots=True)
class SpendToday:
    """``ceiling_usd`` 0 = unlimited. ``uses_models`` is false while every lane is built in: nothing can be spent.

    ``lanes`` are those that asked a model today, or have a limit. ``spent_usd`` is what is known,
    and what the limits are measured by.
    """

    day: date
    spent_usd: Decimal
    ceiling_usd: Decimal
    uses_models: bool
    lanes: list[LaneUse] = field(default_factory=list)

    @property
    def resets_at(self) -> datetime:
        return next_reset(self.began_at)

    @property
    def began_at(self) -> datetime:
        return datetime.combine(self.day, time.min, tzinfo=UTC)

    @property
    def left_usd(self) -> Decimal | None:
        """``None`` = no ceiling."""
        return max(self.ceiling_usd - self.spent_usd, Decimal(0)) if self.ceiling_usd else None

    @property
    def unknown(self) -> int:
        """How many of today's calls did not say what they used."""
        return sum(use.unknown for use in self.lanes)

    @property
    def is_unknown(self) -> bool:
        """Some were asked, and nobody said what any of it used."""
        return bool(self.unknown) and not self.spent_usd and not any(use.tokens for use in self.lanes)

    @property
    def level(self) -> SpendLevel:
        return _rate(self.spent_usd, self.ceiling_usd)

    @property
    def percent(self) -> int:
        """Of the ceiling, rounded down; 0 where there is none."""
        return int(100 * self.spent_usd / self.ceiling_usd) if self.ceiling_usd else 0

    @property
    def full_lanes(self) -> list[str]:
        return [use.lane for use in self.lanes if use.level is SpendLevel.REACHED]

    @property
    def near_lanes(self) -> list[str]:
        return [use.lane for use in self.lanes if use.level is SpendLevel.NEAR]


def read_spend_today(now: datetime) -> SpendToday:
    """Three reads, which every page makes: the day's rows and its unknown calls by their indexes, and the settings."""
    day = now.astimezone(UTC).date()
    rows = {row.lane: row for row in list_lane_rows(day)}
    unknown = count_unknown(since=datetime.combine(day, time.min, tzinfo=UTC), now=now)
    ceiling, limits, chosen = get_settings("daily_budget_usd", "lane_token_limits", "provider")
    uses_models = any(provider != "builtin" for provider in chosen.values())
    return SpendToday(
        day,
        sum((row.cost_usd for row in rows.values()), Decimal(0)),
        Decimal(str(ceiling)),
        uses_models,
        [
            _read_lane(lane, rows.get(lane), limits.get(lane, 0), unknown.get(lane, 0))
            for lane in LANES
            if lane in rows or lane in unknown or limits.get(lane)
        ],
    )


def _read_lane(lane: str, row: LlmSpend | None, limit: int, unknown: int) -> LaneUse:
    if row is None:
        return LaneUse(lane, limit=limit, unknown=unknown)
    return LaneUse(
        lane,
        row.input_tokens,
        row.output_tokens,
        row.cached_input_tokens,
        row.reasoning_output_tokens,
        row.cost_usd,
        limit,
        unknown,
    )


def _rate(used: Decimal, limit: Decimal) -> SpendLevel:
    if not limit or used < limit * NEARLY:
        return SpendLevel.WITHIN
    return SpendLevel.REACHED if used >= limit else SpendLevel.NEAR
