"""``make chaos``: the full kill counts, on both databases, with one and with two workers, and Temporal's long absence."""

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.boardserver import BoardServer
from tests.chaos.episode import Episode, Plan
from tests.chaos.outage import Outage
from tests.postgres import PostgresUnavailable, kept_cluster
from tests.worker.making import migrated_template, new_workspace
from tests.worker.workspace import Workspace

KILLS_A_ROUND = 10
LOOKS_A_ROUND = 3
SILENT_ROUND = 2
OUTAGE_SECONDS = 120.0


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    print(f"seed {options.seed}", flush=True)
    databases = ["sqlite", "postgresql"] if options.databases == "both" else [options.databases]
    faults = 0
    if "postgresql" in databases and (reason := find_obstacle()):
        print(f"postgresql is NOT tried: {reason}", flush=True)
        print("That is a failure; with --databases sqlite it is not asked for.", flush=True)
        databases.remove("postgresql")
        faults += 1
    variants = [(database, workers) for database in databases for workers in options.workers]
    share = -(-options.kills // max(1, len(variants)))
    for number, (database, workers) in enumerate(variants):
        if share:
            faults += run_variant(database, workers, share, jobs=options.jobs, seed=options.seed + number)
        if options.outage and workers == options.workers[0]:
            faults += run_outages(database, seconds=options.outage)
    print("nothing lost, doubled or stuck" if not faults else f"{faults} failed, see above", flush=True)
    return 1 if faults else 0


def find_obstacle() -> str:
    """Why no PostgreSQL can be started here; "" where one can."""
    try:
        with kept_cluster():
            return ""
    except PostgresUnavailable as error:
        return str(error)


def read_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument(
        "--kills", type=int, default=200, help="in all, shared by the variants; 0 for the outages alone"
    )
    parser.add_argument("--jobs", type=int, default=60, help="a run")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--databases", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--outage", type=float, default=OUTAGE_SECONDS, metavar="SECONDS",
                        help="how long Temporal stays away in the middle of a run; 0 to leave that out")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.kills < 0 or options.jobs < 1 or min(options.workers) < 1 or options.outage < 0:
        parser.error("--jobs and --workers are at least 1, --kills and --outage at least 0")
    return options


def run_variant(database: str, workers: int, kills: int, *, jobs: int, seed: int) -> int:
    with open_workspace(database) as (workspace, boards):
        episode = Episode(workspace, boards, random.Random(seed), workers=workers, jobs=jobs)
        try:
            episode.start()
            began, faults, left, number = time.monotonic(), 0, kills, 0
            while left > 0:
                number += 1
                episode.run_round(number, plan_round(number, min(KILLS_A_ROUND, left)))
                left -= KILLS_A_ROUND
                faults += report(f"after round {number}", [*episode.list_faults(), *episode.stops.find_unexplained()])
                print(f"{database}, {workers} workers: {sum(episode.kills.values())} kills {dict(episode.kills)}, "
                      f"{len(episode.stops.accepted)} runs ended from outside, {episode.looked} looks at every run, "
                      f"{episode.watch.answers} answers of health, {episode.later_runs} later runs, "
                      f"{workspace.count('jobs')} jobs, stages {workspace.count_stages('pdf')}, "
                      f"{time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
            return faults
        finally:
            episode.stop()


def plan_round(number: int, kills: int) -> Plan:
    """One silence a variant: it takes as long as a round."""
    return Plan(kills, looks=LOOKS_A_ROUND, stops=("canceled", "terminated"), silence=number == SILENT_ROUND)


def run_outages(database: str, *, seconds: float) -> int:
    """Once with workers that die with Temporal, once with workers that live on."""
    faults = 0
    for power_cut in (True, False):
        what = f"{database}, Temporal away for {seconds:g} s, {'with' if power_cut else 'without'} the worker"
        with open_workspace(database) as (workspace, boards):
            outage = Outage(workspace, boards, seconds, power_cut=power_cut)
            try:
                outage.start()
                outage.run()
            except AssertionError as wrong:
                faults += report(what, [f"{find_line(wrong)}: {wrong}"])
            else:
                print(f"{what}, then wiped, then restored: pages, API and health told the truth", flush=True)
            finally:
                outage.stop()
    return faults


def find_line(wrong: AssertionError) -> str:
    """The assertion as it is written: outside of the test suite nothing else says what it was about."""
    frame = traceback.extract_tb(wrong.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}, {frame.line}"


def report(when: str, faults: list[str]) -> int:
    for fault in faults:
        print(f"  fault, {when}: {fault}", flush=True)
    return len(faults)


@contextmanager
def open_workspace(database: str) -> Iterator[tuple[Workspace, BoardServer]]:
    """Raises ``PostgresUnavailable`` where that is asked for and cannot be started."""
    with ExitStack() as stack:
        os.environ["DATABASE_URL"] = stack.enter_context(kept_cluster()) if database == "postgresql" else ""
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jobctrl-chaos-")))
        template = stack.enter_context(migrated_template(folder))
        boards = stack.enter_context(BoardServer())
        workspace = stack.enter_context(
            new_workspace(folder / "workspace", template=template, temporal_address="", allow=[boards.host_port])
        )
        yield workspace, boards


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
