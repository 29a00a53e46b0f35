"""Accepting postings of an API source: identity, sightings, enrolment, membership, events, projections."""

import statistics
import time
from collections.abc import Iterator

from discovery.contracts import Posting
from discovery.services.postings import record_postings
from operations.contracts import ExecutionRef
from tests.benchmarks.figures import Figure, at_least
from tests.benchmarks.seeder import build_posting

POSTINGS = 1000
PAGE = 100
FIRST = 5_000_000  # beyond every seeded number


def measure(jobs: int) -> Iterator[Figure]:
    postings = [build_posting(FIRST + number) for number in range(POSTINGS)]
    new = measure_ingest(postings, run_id="bench-ingest-1")
    again = measure_ingest(postings, run_id="bench-ingest-2")
    yield at_least("ingest of new postings", new, "postings/s", 400)
    yield at_least("ingest of the same postings by the next run", again, "postings/s")
    yield at_least("repeat run against first run", again / new, "x", 2)


def measure_ingest(postings: list[Posting], *, run_id: str) -> float:
    """Postings a second: the median over pages of 100."""
    ref = ExecutionRef("local", "discover-local", run_id)
    boards: dict[str, list[Posting]] = {}
    for posting in postings:
        boards.setdefault(posting.board, []).append(posting)
    rows = [posting for board in boards.values() for posting in board]
    rates = []
    for start in range(0, len(rows), PAGE):
        page = rows[start : start + PAGE]
        started = time.perf_counter()
        for first in range(0, PAGE, 50):
            part = page[first : first + 50]
            record_postings(f"greenhouse:{part[0].board}", part, execution_ref=ref)
        rates.append(len(page) / (time.perf_counter() - started))
    return statistics.median(rates)
