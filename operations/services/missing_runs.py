"""Runs of which the log tells and the run list does not, although it has folded those events: rebuilt from the log.

A table that lost rows (a restore by hand, a repaired file) would otherwise stay silently empty behind its watermark.
"""

import logging

from operations import queries
from operations.folding.engine import list_flagged_apps
from operations.folding.rebuild import rebuild_projections
from operations.models import ProjectionWatermark
from operations.projections import workflow_runs

log = logging.getLogger(__name__)

APP = "operations"
SLICE = 2000  # ids of the log in one pass


class _Walk:
    """Backwards from where the folds were when this process began; 0 = all of it was looked at."""

    below: int | None = None


def rebuild_missing_runs() -> int:
    """Look at the next older slice of the log, once through it in a process; returns the number of missing rows."""
    if _Walk.below == 0 or APP in list_flagged_apps():
        return 0
    if _Walk.below is None:
        _Walk.below = _read_watermark() + 1
    first = max(_Walk.below - SLICE, 0)
    told = queries.list_logged_runs(tuple(workflow_runs.rules), first_id=first, below=_Walk.below)
    missing = len(told) - queries.count_runs(told)
    if missing:
        log.error("%d runs of the log are missing from the run list; it is rebuilt", missing)
        rebuild_projections(app=APP)
        first = 0
    _Walk.below = first
    return missing


def _read_watermark() -> int:
    return ProjectionWatermark.objects.filter(app=APP).values_list("last_event_id", flat=True).first() or 0
