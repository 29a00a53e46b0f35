"""Printing a resume with a browser that is already open."""

from collections.abc import Iterator

from tests.benchmarks.figures import Figure, at_most, compute_percentile, measure_times

RENDERS = 20


def measure(jobs: int) -> Iterator[Figure]:
    from materials.chromium import ChromiumMissing, find_chromium
    from materials.rendering.documents import render_resume
    from materials.rendering.renderer import shutdown
    from tests.materials.written_documents import LONG_RESUME

    try:
        find_chromium()
    except ChromiumMissing as missing:
        yield at_most("PDF, warm browser, p50", 0, "ms", 250, note=f"not measured: {missing}")
        return
    try:
        times = measure_times(lambda: render_resume(LONG_RESUME), repeats=RENDERS)
    finally:
        shutdown()
    yield at_most("PDF, warm browser, p50", compute_percentile(times, 50), "ms", 250)
