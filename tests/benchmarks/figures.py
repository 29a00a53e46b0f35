"""One measured figure, and the few statistics that all of them use."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

CHUNKS = 5


@dataclass(frozen=True, slots=True)
class Figure:
    """``target`` is ``None`` for a figure printed only for comparison; ``jobs`` is 0 where the size does not matter."""

    name: str
    value: float
    unit: str
    target: float | None = None
    more_is_better: bool = True
    database: str = ""
    jobs: int = 0
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How far the target is met: 1 or more is met, 0.5 is half as good as wanted."""
        if not self.target or not self.value:
            return None
        return self.value / self.target if self.more_is_better else self.target / self.value

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio}


def at_least(name: str, value: float, unit: str, target: float | None = None, *, note: str = "") -> Figure:
    return Figure(name, value, unit, target, more_is_better=True, note=note)


def at_most(name: str, value: float, unit: str, target: float | None = None, *, note: str = "") -> Figure:
    return Figure(name, value, unit, target, more_is_better=False, note=note)


def measure_rate(work: Callable[[], int], *, seconds: float) -> float:
    """Items a second, the median of five chunks; ``work`` does some and returns how many."""
    work()
    rates = []
    for _ in range(CHUNKS):
        started, done = time.perf_counter(), 0
        while (elapsed := time.perf_counter() - started) < seconds / CHUNKS:
            done += work()
        rates.append(done / elapsed)
    return statistics.median(rates)


def measure_times(work: Callable[[], object], *, repeats: int) -> list[float]:
    """Milliseconds of each repeat, after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    return times


def compute_percentile(times: Sequence[float], percent: int) -> float:
    if len(times) == 1:
        return times[0]
    return statistics.quantiles(times, n=100, method="inclusive")[percent - 1]


def describe_figures(figures: Iterable[Figure]) -> list[str]:
    """A table for a terminal: figure, where, value, target, ratio."""
    rows = [("figure", "database", "jobs", "measured", "target", "met")]
    for figure in figures:
        sign = "≥" if figure.more_is_better else "≤"
        ratio = figure.ratio
        rows.append(
            (
                figure.name,
                figure.database,
                f"{figure.jobs:,}" if figure.jobs else "",
                f"{format_number(figure.value)} {figure.unit}",
                f"{sign} {format_number(figure.target)}" if figure.target is not None else "",
                "" if ratio is None else f"{ratio:.2f}x" + ("" if ratio >= 1 else "  MISSED"),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def format_number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
