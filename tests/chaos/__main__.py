"""``make chaos``: the full kill counts, on both databases, with one and with two workers, and Temporal's long absence;
workers killed with a model's answer in their hands, and several that run into the limits of spending at once."""

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
from tests.chaos.answers import Answers
from tests.chaos.asked_models import AskedModels
from tests.chaos.ceilings import Ceilings
from tests.chaos.episode import Episode, Plan
from tests.chaos.outage import Outage
from tests.modelserver import ModelServer
from tests.postgres import PostgresUnavailable, kept_cluster
from tests.template import migrated_template
from tests.worker.making import new_workspace
from tests.worker.workspace import Workspace

KILLS_A_ROUND = 10
LOOKS_A_ROUND = 3
SILENT_ROUND = 2
OUTAGE_SECONDS = 120.0
ANSWERS = 30
CEILING_WORKERS = 8


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
    for number, database in enumerate(databases):
        if options.answers:
            with open_asked_models(database, 1) as work:
                dice = random.Random(options.seed + number)
                answers = Answers(work, dice, options.answers)
                faults += run_asked(f"{database}, kills with an answer", answers, jobs=options.answers)
        if options.ceilings:
            with open_asked_models(database, options.ceilings) as work:
                ceilings = Ceilings(work)
                faults += run_asked(f"{database}, limits of spending", ceilings, jobs=ceilings.jobs)
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
    parser.add_argument("--kills", type=int, default=200, help="in all, shared by the variants; 0 to leave them out")
    parser.add_argument("--jobs", type=int, default=60, help="a run")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--databases", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--outage", type=float, default=OUTAGE_SECONDS, metavar="SECONDS",
                        help="how long Temporal stays away in the middle of a run; 0 to leave that out")  # fmt: skip
    parser.add_argument("--answers", type=int, default=ANSWERS, metavar="KILLS",
                        help="of a worker that has just got an answer of a model, on each database; 0 to leave them out")  # fmt: skip
    parser.add_argument("--ceilings", type=int, default=CEILING_WORKERS, metavar="WORKERS",
                        help="that run into a lane's limit and the day's ceiling; 0 to leave that out")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.jobs < 1 or min(options.workers) < 1:
        parser.error("--jobs and --workers are at least 1")
    if min(options.kills, options.outage, options.answers, options.ceilings) < 0:
        parser.error("--kills, --outage, --answers and --ceilings are at least 0")
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


def run_asked(what: str, episode: Answers | Ceilings, *, jobs: int) -> int:
    began = time.monotonic()
    try:
        episode.work.start(jobs)
        episode.run()
        faults = report(what, episode.list_faults())
    except AssertionError as wrong:
        return report(what, [f"{find_line(wrong)}: {wrong}"])
    print(f"{what}: {episode.describe()}, {time.monotonic() - began:.0f} s", flush=True)
    return faults


@contextmanager
def open_asked_models(database: str, workers: int) -> Iterator[AskedModels]:
    with open_workspace(database) as (workspace, boards), ModelServer() as models:
        work = AskedModels(workspace, boards, models, workers)
        try:
            yield work
        finally:
            work.stop()


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
