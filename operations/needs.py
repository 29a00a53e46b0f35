"""What waits for a person beside single jobs: runs that ended badly, boards that fail. Each app declares its own."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from operations.wording import Wording

#: How the keys of providers that refuse the account begin.
PAUSED: Final = "paused-"


@dataclass(frozen=True, slots=True)
class Need:
    """``key`` is unique among all needs; ``url`` is where it can be mended."""

    key: str
    title: str
    url: str
    state: Wording
    remedy: str
    since: datetime | None = None


ListNeeds = Callable[[int], list[Need]]

_lists: list[ListNeeds] = []


def needs_person(listed: ListNeeds) -> ListNeeds:
    """Declare a read of at most so many needs. It is made for every page, so it is a few index lookups."""
    _lists.append(listed)
    return listed


def list_needs(limit: int) -> list[Need]:
    """At most ``limit`` of each declared kind."""
    return [need for listed in _lists for need in listed(limit)]
