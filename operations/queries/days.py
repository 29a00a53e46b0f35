"""What was recorded since a moment, counted from the log by its indexes alone."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from operations.eventlog import read_head
from operations.models import JobEventRow

COUNTED: Final = 5_000
#: The first event since a moment never changes once there is one; a few are kept, and each is looked at before use.
_firsts: dict[datetime, int] = {}


def find_first_event_since(at: datetime) -> int:
    """The id of the first event recorded since then; one more than the newest id where there is none.

    Ids grow with the time, so it is found by halving: about twenty lookups once a day, two from then on.
    """
    known = _firsts.get(at)
    if known is not None and _is_first(known, at):
        return known
    head = read_head()
    low, high = 1, head + 1
    if not JobEventRow.objects.filter(id=head, recorded_at__gte=at).exists():
        return high
    while low < high:
        middle = (low + high) // 2
        row = JobEventRow.objects.filter(id__gte=middle).order_by("id").values_list("id", "recorded_at").first()
        if row is None or row[1] >= at:
            high = middle
        else:
            low = row[0] + 1
    if len(_firsts) > 8:
        _firsts.clear()
    _firsts[at] = low
    return low


def _is_first(event_id: int, at: datetime) -> bool:
    moments = JobEventRow.objects.values_list("recorded_at", flat=True)
    here = moments.filter(id__gte=event_id).order_by("id").first()
    before = moments.filter(id__lt=event_id).order_by("-id").first()
    return here is not None and here >= at and (before is None or before < at)


def count_events_since(event_id: int, event_types: Sequence[str]) -> int:
    """How many of these types from that id on; each is counted up to 5,000, from an index alone."""
    return sum(
        JobEventRow.objects.filter(event_type=name, id__gte=event_id).order_by().values("id")[:COUNTED].count()
        for name in event_types
    )
