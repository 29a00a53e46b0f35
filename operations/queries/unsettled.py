"""Reads of the runs that are asked about again: open ones, and those whose end was only assumed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from operations.models import WorkflowRunProjection
from operations.queries.runs import OPEN_STATES

ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that our records call open, or whose end is only assumed; ``episode`` counts how often it was."""

    run_id: str
    workflow_id: str
    workflow_type: str
    provisional: bool
    episode: int
    first_seen_at: datetime | None = None


def list_unsettled_runs(kind: str, *, after: OpenRun | None = None, limit: int) -> list[OpenRun]:
    """Runs of one open status, or with ``ASSUMED`` ends, oldest first; one index range however many there are."""
    rows = WorkflowRunProjection.objects.filter(Q(provisional=True) if kind == ASSUMED else Q(status=kind))
    if after is not None:
        rows = rows.filter(first_seen_at__gte=after.first_seen_at)
        rows = rows.filter(Q(first_seen_at__gt=after.first_seen_at) | Q(run_id__gt=after.run_id))
    return [
        OpenRun(
            row.run_id, row.workflow_id, row.workflow_type, row.provisional, row.provisional_ends, row.first_seen_at
        )
        for row in rows.order_by("first_seen_at", "run_id")[:limit]
    ]


def iter_unsettled_runs(*, page: int) -> Iterator[list[OpenRun]]:
    """Every one of them, in pages."""
    for kind in (*OPEN_STATES, ASSUMED):
        after: OpenRun | None = None
        while runs := list_unsettled_runs(kind, after=after, limit=page):
            yield runs
            after = runs[-1]


class Rotation:
    """A bounded part of these kinds at each turn, each where the one before stopped: none waits for ever."""

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds
        self.kind = 0
        self.after: OpenRun | None = None

    def take(self, limit: int) -> list[OpenRun]:
        found: dict[str, OpenRun] = {}
        for _ in range(len(self.kinds) + 1):
            left = limit - len(found)
            runs = list_unsettled_runs(self.kinds[self.kind], after=self.after, limit=left)
            found.update((run.run_id, run) for run in runs)
            if len(runs) == left:
                self.after = runs[-1]
                break
            self.kind, self.after = (self.kind + 1) % len(self.kinds), None
        return list(found.values())
