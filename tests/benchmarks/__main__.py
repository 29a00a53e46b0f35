"""``make bench``: prints every figure beside its target and writes them as JSON. Never a pass or a failure.

``make bench ARGS="--sizes 1000,10000,50000 --only boot,heartbeat"``
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks.figures import Figure, at_most, describe_figures, format_number
from tests.benchmarks.places import POSTGRES, SQLITE, Place, PostgresSeeds, ensure_seed, sqlite_place
from tests.postgres import PostgresUnavailable, kept_cluster
from tests.run import ROOT

#: Figures that share one copy of a workspace, in this order; the rebuild has a process of its own for its memory.
AT_EVERY_SIZE = (
    ("append", "fold", "heartbeat", "ingest"),
    ("rebuild",),
    ("boot",),
    ("stream",),
    ("api",),
    ("preparation",),
)
ONCE = (("pdf",), ("preflight",))
NAMES = tuple(name for group in (*AT_EVERY_SIZE, *ONCE) for name in group)
RESULTS = Path(__file__).parent / "results"
FLAT = 1.5


def main(arguments: Sequence[str]) -> int:
    options = read_options(arguments)
    started = time.monotonic()
    figures: list[Figure] = []
    notes: list[str] = []
    with ExitStack() as stack:
        places = plan_databases(options, stack, notes)
        for figure in measure_all(places, options):
            figures.append(figure)
            announce(f"    {figure.name}: {format_number(figure.value)} {figure.unit}")
    figures.extend(compare_sizes(figures))
    print("\n".join(describe_figures(figures)))
    for note in [*notes, *(f"{figure.name}: {figure.note}" for figure in figures if figure.note)]:
        print(note)
    path = write_results(figures, notes, seconds=time.monotonic() - started)
    print(f"{time.monotonic() - started:.0f} s; written to {path.relative_to(ROOT)}")
    return 0


def read_options(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--sizes", default="1000,10000", help="jobs in the workspaces, e.g. 1000,10000,50000")
    parser.add_argument("--only", default=",".join(NAMES), help=f"some of {', '.join(NAMES)}")
    parser.add_argument("--databases", default=f"{SQLITE},{POSTGRES}", help=f"one of {SQLITE}, {POSTGRES}, or both")
    options = parser.parse_args(arguments)
    try:
        options.sizes = sorted({int(size) for size in options.sizes.split(",")})
    except ValueError:
        parser.error("--sizes: numbers of jobs with commas between, e.g. 1000,10000,50000")
    if options.sizes[0] < 1:
        parser.error("--sizes: a workspace holds at least one job")
    options.only = options.only.split(",")
    options.databases = [name for name in (SQLITE, POSTGRES) if name.lower() in options.databases.lower()]
    if unknown := set(options.only) - set(NAMES):
        parser.error(f"there is no figure {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    return options


Open = Callable[[int], AbstractContextManager[Place]]


def plan_databases(options: Namespace, stack: ExitStack, notes: list[str]) -> dict[str, Open]:
    """For each database how to open a workspace of a size; PostgreSQL where a cluster can be started."""
    places: dict[str, Open] = {}
    if SQLITE in options.databases:
        places[SQLITE] = sqlite_place
    if POSTGRES in options.databases:
        try:
            places[POSTGRES] = PostgresSeeds(stack.enter_context(kept_cluster())).place
        except PostgresUnavailable as error:
            notes.append(f"PostgreSQL was not measured: {error}")
        else:
            notes.append(
                "PostgreSQL: a throw-away cluster on loopback without fsync; a durable one commits more slowly"
            )
    for jobs in options.sizes:
        announce(f"workspace of {jobs:,} jobs")
        ensure_seed(jobs)
    return places


def measure_all(places: dict[str, Open], options: Namespace) -> Iterator[Figure]:
    for database, open_place in places.items():
        for jobs in options.sizes:
            groups = list(AT_EVERY_SIZE)
            if database == next(iter(places)) and jobs == options.sizes[0]:
                groups.extend(ONCE)
            for group in groups:
                if names := [name for name in group if name in options.only]:
                    announce(f"{database}, {jobs:,} jobs: {', '.join(names)}")
                    with open_place(jobs) as place:
                        yield from measure_group(place, names)


def measure_group(place: Place, names: Iterable[str]) -> list[Figure]:
    """Run some figures in a process of their own. What it measured before it failed is kept, and the failure is shown."""
    with tempfile.TemporaryDirectory(prefix="jobctrl-bench-") as folder:
        output = Path(folder) / "figures.jsonl"
        command = [sys.executable, "-m", "tests.benchmarks.steps", "measure", str(place.jobs), str(output), *names]
        done = subprocess.run(
            command, cwd=ROOT, env=place.environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False
        )
        lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
    if done.returncode:
        announce(f"{', '.join(names)} on {place.database} at {place.jobs:,} jobs failed; see above")
    return [read_figure(line) for line in lines]


def read_figure(line: str) -> Figure:
    values = json.loads(line)
    values.pop("ratio")
    return Figure(**values)


def compare_sizes(figures: Sequence[Figure]) -> list[Figure]:
    """How much slower one-event appends are in the largest workspace than in the smallest."""
    found = []
    for database in (SQLITE, POSTGRES):
        rates = {
            f.jobs: f.value for f in figures if f.database == database and f.name == "append, one event a transaction"
        }
        if len(rates) > 1:
            small, large = min(rates), max(rates)
            figure = at_most(f"append, {small:,} jobs against {large:,}", rates[small] / rates[large], "x", FLAT)
            found.append(replace(figure, database=database))
    return found


def write_results(figures: Sequence[Figure], notes: Sequence[str], *, seconds: float) -> Path:
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    body = {
        "measuredAt": now.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "seconds": round(seconds, 1),
        "notes": list(notes),
        "figures": [figure.to_json() for figure in figures],
    }
    path = RESULTS / f"{now:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
    return path


def announce(text: str) -> None:
    print(f"... {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
