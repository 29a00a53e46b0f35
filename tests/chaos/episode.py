"""One episode: a workspace whose every process is killed at random while runs go on, and what must hold after."""

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from operations.contracts import HEARTBEAT_FRESH_SECONDS
from tests.boardserver import BoardServer
from tests.chaos.asking import sign_in
from tests.chaos.doubles import find_doubles
from tests.chaos.programs import WEB, Programs
from tests.chaos.settling import find_excess_attempts, find_missing_documents, find_unsettled, list_canceled
from tests.chaos.stopping import How, Stops
from tests.chaos.truth import AGREE_SECONDS, find_disagreements
from tests.chaos.watching import Watch
from tests.worker.boards import add_boards, build_postings, serve_board
from tests.worker.workspace import SAMPLE_PROFILE, TERMINALS, Workspace

SETTLE_SECONDS = 600.0
LATER_RUNS = 3
TEMPORAL = "temporal"


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens in one round, and how often: kills, of which some are followed by a look at every run's state; runs
    ended from outside, each way; and every worker left dead until nobody may call one alive."""

    kills: int
    looks: int = 0
    stops: tuple[How, ...] = ()
    silence: bool = False


@dataclass(slots=True)
class Episode:
    """The programs of one workspace and the dice; ``kills`` counts by kind of process."""

    workspace: Workspace
    boards: BoardServer
    dice: random.Random
    workers: int = 1
    jobs: int = 60
    kills: Counter[str] = field(default_factory=Counter)
    later_runs: int = 0
    looked: int = 0
    faults: list[str] = field(default_factory=list)
    programs: Programs = field(init=False)
    stops: Stops = field(init=False)
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.programs = Programs(self.workspace, self.workers)
        self.stops = Stops(self.workspace, self.dice)

    def start(self) -> None:
        self.programs.start()
        self.workspace.run("import_profile", str(SAMPLE_PROFILE))
        self.workspace.run_python(
            "from operations.settings_store import change_settings\n"
            f"change_settings({{'results_per_board': {self.jobs}}}, actor='chaos')"
        )
        self.watch = Watch(self.programs, sign_in(self.workspace, self.programs.web_port))
        self.watch.start()

    def stop(self) -> None:
        if hasattr(self, "watch"):
            self.watch.stop()
        self.programs.stop()

    # --- one round -----------------------------------------------------------------------------

    def run_round(self, number: int, plan: Plan) -> None:
        """A discovery over a fresh board, killed into, then left alone until it has settled."""
        board = f"parcels-{number}"
        serve_board(self.boards, board, build_postings(self.boards, number * 1000 + 1, self.jobs))
        add_boards(self.workspace, self.boards, board)
        self.start_patiently()
        looks = self.draw(plan.kills, plan.looks)
        stops = dict(zip(self.draw(plan.kills, len(plan.stops)), plan.stops, strict=True))
        due: list[How] = []
        for kill in range(plan.kills):
            time.sleep(self.dice.uniform(0.2, 3.0))
            due += [stops[kill]] if kill in stops else []
            due = [how for how in due if not self.stops.stop_one(how)]
            self.kill_one()
            if kill in looks:
                self.look()
        if plan.silence:
            self.keep_silence()
        self.settle()

    def draw(self, kills: int, count: int) -> list[int]:
        return self.dice.sample(range(kills), min(count, kills))

    def kill_one(self) -> None:
        """SIGKILL to one process, a pause, and its next start: what a supervisor would do, only meaner."""
        workers = self.programs.list_workers()
        target = self.dice.choice([*workers, WEB, *workers, WEB, TEMPORAL])
        self.kills[target] += 1
        if target == TEMPORAL:
            self.programs.kill_temporal()
            time.sleep(self.dice.uniform(0.0, 1.5))
            self.programs.start_temporal_again()
            return
        self.programs.kill(target)
        time.sleep(self.dice.uniform(0.0, 1.0))
        self.programs.spawn(target)

    def look(self) -> None:
        """In the middle of it all: from when everything is back, every run's state is true within one heartbeat."""
        self.programs.wait_for_workers()
        self.looked += 1
        self.faults += [
            f"{AGREE_SECONDS:g} s after a worker and Temporal were back {wrong}"
            for wrong in find_disagreements(self.workspace)
        ]

    def keep_silence(self) -> None:
        """Every worker stays dead until health must have noticed."""
        said_gone = self.watch.said_gone
        for name in self.programs.list_workers():
            self.kills[name] += 1
            self.programs.kill(name)
        time.sleep(HEARTBEAT_FRESH_SECONDS + 5)
        if self.watch.said_gone == said_gone:
            self.faults.append("health did not notice that every worker was dead")
        for name in self.programs.list_workers():
            self.programs.spawn(name)

    def start_patiently(self) -> str:
        """Start a discovery as an operator would: again, while the product says that it cannot yet."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            done = self.workspace.manage("run_stage", "discover", "--json")
            if done.returncode == 0:
                return str(json.loads(done.stdout.splitlines()[-1])["runId"])
            time.sleep(1)
        raise AssertionError(f"no discovery could be started: {done.stderr}")

    def settle(self) -> None:
        """Until nothing runs; what lost workers and ended runs have left is taken up by later runs, a few at most."""
        self.wait_for_quiet()
        for _ in range(LATER_RUNS):
            if not find_unsettled(self.workspace):
                return
            self.later_runs += 1
            self.reset_canceled()
            self.start_patiently()
            self.wait_for_quiet()

    def wait_for_quiet(self) -> None:
        """Until no run is open, for so long that one which is only about to be recorded would be."""
        self.workspace.wait_until(lambda: not self.count_open(), what="the end of every run", seconds=SETTLE_SECONDS)

    def count_open(self) -> int:
        return self.workspace.count("workflow_run_projections", "status IN ('starting', 'in_progress') OR provisional")

    def reset_canceled(self) -> None:
        """What a cancellation has ended comes back by a person's reset alone."""
        for stage, jobs in list_canceled(self.workspace).items():
            self.workspace.run_python(
                "from uuid import UUID\nfrom operations.services.stages import reset_stages\n"
                f"reset_stages({stage!r}, [UUID(job) for job in {jobs!r}])"
            )

    # --- what must hold ------------------------------------------------------------------------

    def list_faults(self) -> list[str]:
        """Everything that is not as it must be, since the last time that this was asked."""
        during, self.faults = self.faults, []
        during += self.take_watched()
        return [*during, *(fault for check in self.list_checks() for fault in check())]

    def take_watched(self) -> list[str]:
        said, self.watch.faults = self.watch.faults, []
        return said if self.watch.answers else [*said, "health never answered"]

    def list_checks(self) -> list[Callable[[], list[str]]]:
        return [
            lambda: find_disagreements(self.workspace),
            lambda: find_unsettled(self.workspace),
            self.find_unfinished,
            lambda: find_missing_documents(self.workspace),
            lambda: find_excess_attempts(self.workspace),
            lambda: find_doubles(self.workspace),
            self.find_wrong_ends,
            self.stops.list_faults,
            self.find_dirt,
        ]

    def find_unfinished(self) -> list[str]:
        """What belongs to runs that have ended: steps, plans, discovery runs, activities. None of it goes on."""
        ended = "run_id IN (SELECT run_id FROM workflow_run_projections WHERE status {})"
        done = ended.format("= 'succeeded'")
        left = {
            "discovery runs are open": ("discovery_runs", "ended_at IS NULL"),
            "steps are open": ("pipeline_step_projections", "finished_at IS NULL"),
            "jobs of a discovery that succeeded have no plan": (
                "discovery_execution_jobs",
                f"plan_state = 'pending' AND {done}",
            ),
            "activities are pending": ("workflow_pending_activities", "1 = 1"),
            "ends are only assumed": ("workflow_run_projections", "provisional"),
        }
        deadline = time.monotonic() + AGREE_SECONDS
        while True:
            found = [
                f"{count} {what}"
                for what, (table, where) in left.items()
                if (count := self.workspace.count(table, where))
            ]
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(1)

    def find_wrong_ends(self) -> list[str]:
        """Each run has exactly one authoritative end."""
        ends = Counter(
            payload["runId"] for _, payload in self.workspace.list_events(*TERMINALS) if not payload.get("provisional")
        )
        runs = [row[0] for row in self.workspace.query("SELECT run_id FROM workflow_run_projections")]
        return [f"run {run} has {ends[run]} authoritative ends" for run in {*runs, *ends} if ends[run] != 1]

    def find_dirt(self) -> list[str]:
        done = self.workspace.manage("verify_projections")
        stray = set(self.workspace.sweep_artifacts()) ^ set(self.workspace.list_artifact_paths())
        return [
            *([f"the projections differ from the log: {done.stdout}"] if done.returncode else []),
            *([f"{len(stray)} artifact files and rows do not match"] if stray else []),
        ]
