import json
from argparse import ArgumentParser
from typing import Any

from operations import queries
from operations.contracts import StageName, StageState
from operations.management.product import ProductCommand
from operations.stage_engine.counters import read_counters


class Command(ProductCommand):
    help = "Where the jobs stand: stage rows by state, and whether a worker lives."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        counts, lost = read_counters(), queries.count_lost_stages()
        seen = queries.find_fresh_worker()
        if options["json"]:
            body = {"stages": counts, "lost": lost, "workerLastSeenAt": seen.isoformat() if seen else None}
            self.stdout.write(json.dumps(body))
            return
        if not counts:
            self.stdout.write(
                "No jobs yet. Add a source with manage.py add_source, then run manage.py run_stage discover."
            )
        for stage in StageName:
            if stage not in counts:
                continue
            states = [f"{counts[stage][state]} {state}" for state in StageState if state in counts[stage]]
            if lost.get(stage):
                states.append(f"{lost[stage]} of them held by a run that cannot be found")
            self.stdout.write(f"{stage:8} {', '.join(states)}")
        self.stdout.write(f"worker   {'last seen ' + seen.strftime('%H:%M:%S UTC') if seen else 'none is running'}")
