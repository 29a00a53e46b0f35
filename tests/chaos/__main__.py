"""``make chaos``: the full kill counts, on both databases, with one and with two workers."""

import argparse
import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.boardserver import BoardServer
from tests.chaos.episode import Episode
from tests.postgres import PostgresUnavailable, kept_cluster
from tests.worker.making import migrated_template, new_workspace

KILLS_A_ROUND = 10


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="in all, shared by the variants")
    parser.add_argument("--jobs", type=int, default=60, help="a run")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--databases", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    databases = ["sqlite", "postgresql"] if options.databases == "both" else [options.databases]
    variants = [(database, workers) for database in databases for workers in options.workers]
    share = -(-options.kills // len(variants))
    faults = 0
    for number, (database, workers) in enumerate(variants):
        faults += run_variant(database, workers=workers, kills=share, jobs=options.jobs, seed=options.seed + number)
    print("nothing lost, doubled or stuck" if not faults else f"{faults} faults", flush=True)
    return 1 if faults else 0


def run_variant(database: str, *, workers: int, kills: int, jobs: int, seed: int) -> int:
    with ExitStack() as stack:
        if database == "postgresql":
            try:
                os.environ["DATABASE_URL"] = stack.enter_context(kept_cluster())
            except PostgresUnavailable as error:
                print(f"postgresql: not run: {error}", flush=True)
                return 0
        else:
            os.environ["DATABASE_URL"] = ""
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jobctrl-chaos-")))
        template = stack.enter_context(migrated_template(folder))
        boards = stack.enter_context(BoardServer())
        workspace = stack.enter_context(
            new_workspace(folder / "workspace", template=template, temporal_address="", allow=[boards.host_port])
        )
        episode = Episode(workspace, boards, random.Random(seed), workers=workers, jobs=jobs)
        stack.callback(episode.stop)
        episode.start()
        began, faults, left, number = time.monotonic(), 0, kills, 0
        while left > 0:
            number += 1
            episode.run_round(number, kills=min(KILLS_A_ROUND, left))
            left -= KILLS_A_ROUND
            found = episode.list_faults()
            faults += len(found)
            for fault in found:
                print(f"  fault after round {number}: {fault}", flush=True)
            print(f"{database}, {workers} workers: {sum(episode.kills.values())} kills {dict(episode.kills)}, "
                  f"{workspace.count('jobs')} jobs, stages {workspace.count_stages('pdf')}, "
                  f"{time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
        return faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
