"""Folding one event into the live projections, and finding that there is nothing to fold."""

import time
from collections.abc import Iterator

from django.db import connection

from operations.contracts import StageName
from operations.database import in_one_trip, writer
from operations.folding import list_apps
from operations.folding.engine import catch_up, fold_live, list_flagged_apps
from operations.stage_engine.rows import get_row, move_rows
from tests.benchmarks.append import list_waiting_jobs, plan_next
from tests.benchmarks.figures import Figure, at_most, compute_percentile, measure_times

REPEATS = 600


def measure(jobs: int) -> Iterator[Figure]:
    on_sqlite = connection.vendor == "sqlite"
    times = time_folds()
    yield at_most("fold of one stage event, p50", compute_percentile(times, 50), "ms")
    yield at_most("fold of one stage event, p95", compute_percentile(times, 95), "ms", 0.5 if on_sqlite else 2)
    idle = measure_times(lambda: [catch_up(app) for app in list_apps()], repeats=REPEATS)
    yield at_most("refresh with nothing new, p50", compute_percentile(idle, 50), "ms", 0.2)
    flagged = measure_times(list_flagged_apps, repeats=REPEATS)
    yield at_most("asking which projections are behind, p50", compute_percentile(flagged, 50), "ms")


def time_folds() -> list[float]:
    """Milliseconds of the hook that runs before each commit, and of what it leaves for its answers."""
    waiting = list_waiting_jobs()
    times = []
    for number in range(REPEATS + 20):
        with writer() as write:
            move_rows([plan_next(get_row(waiting[number % len(waiting)], StageName.SCORE))])
            started = time.perf_counter()
            with in_one_trip():
                go_on = fold_live(write)
            assert go_on
            go_on()
            times.append((time.perf_counter() - started) * 1000)
            write.events.clear()  # folded already
    return times[20:]
