"""What was done since midnight UTC, as the dashboard's five figures."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from operations import queries
from operations.spend import SpendToday, read_spend_today
from operations.wording import describe_money
from operations.wording.costs import describe_spent

#: Label, what follows the number in words, and the events that it counts, by their registered names.
COUNTED_EVENTS: Final = (
    ("Found", "new postings", ("JobDiscovered",)),
    ("Scored", "jobs read and judged", ("JobScored",)),
    ("Documents", "resume and letter, as PDF", ("PdfRendered",)),
    ("Failed", "attempts at a step", ("StageFailed", "StageExhausted")),
)


@dataclass(frozen=True, slots=True)
class Figure:
    label: str
    value: str
    detail: str


@dataclass(frozen=True, slots=True)
class Today:
    since: datetime
    figures: list[Figure]


def read_today(now: datetime) -> Today:
    """Five counts of index entries since midnight UTC, each up to 5,000, and the day's spend."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = queries.find_first_event_since(midnight)
    figures = [
        Figure(label, describe_count(queries.count_events_since(first, names)), detail)
        for label, detail, names in COUNTED_EVENTS
    ]
    return Today(midnight, [*figures, describe_spend(read_spend_today(now))])


def describe_count(count: int) -> str:
    return f"{queries.COUNTED:,}+" if count >= queries.COUNTED else f"{count:,}"


def describe_spend(today: SpendToday) -> Figure:
    if not today.uses_models and not today.spent_usd and not today.unknown:
        return Figure("Spent", "Nothing", "the built-in engine costs nothing")
    limit = f"of {describe_money(today.ceiling_usd)} a day" if today.ceiling_usd else "no daily limit is set"
    spent = describe_spent(today.spent_usd, unknown=today.unknown, is_unknown=today.is_unknown)
    return Figure("Spent", spent[0].upper() + spent[1:], limit)
