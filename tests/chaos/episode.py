"""One episode: a workspace whose every process is killed at random while runs go on, and what must hold after."""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from operations.processes.children import build_tied_argv
from operations.processes.ports import choose_free_port
from tests.boardserver import BoardServer
from tests.temporal import TemporalServer, start_temporal
from tests.worker.boards import add_boards, build_postings, serve_board
from tests.worker.workspace import OPEN, ROOT, SAMPLE_PROFILE, TERMINALS, Workspace

SETTLE_SECONDS = 600.0
ONE_HEARTBEAT = 15.0
STATUS_OF = {
    WorkflowExecutionStatus.COMPLETED: "succeeded",
    WorkflowExecutionStatus.FAILED: "failed",
    WorkflowExecutionStatus.CANCELED: "canceled",
    WorkflowExecutionStatus.TERMINATED: "terminated",
    WorkflowExecutionStatus.TIMED_OUT: "timed_out",
}
ONCE_A_JOB = ("JobDiscovered", "JobScored", "ResumeApproved", "CoverLetterGenerated", "PdfRendered")


@dataclass(slots=True)
class Episode:
    """The processes of one workspace and the dice; ``kills`` counts by kind of process."""

    workspace: Workspace
    boards: BoardServer
    dice: random.Random
    workers: int = 1
    jobs: int = 60
    kills: Counter[str] = field(default_factory=Counter)
    temporal: TemporalServer | None = None
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    web_port: int = 0

    # --- processes -----------------------------------------------------------------------------

    def start(self) -> None:
        self.temporal = start_temporal(self.workspace.home / "temporal.db")
        self.workspace.temporal_address, self.workspace.namespace = self.temporal.address, "default"
        self.web_port = choose_free_port()
        self.workspace.run("import_profile", str(SAMPLE_PROFILE))
        self.workspace.run_python(
            "from operations.settings_store import change_settings\n"
            f"change_settings({{'results_per_board': {self.jobs}}}, actor='chaos')"
        )
        for name in self.list_programs():
            self.spawn(name)
        self.workspace.wait_until(
            lambda: len(self.workspace.list_living_workers()) == self.workers, what="every worker's heartbeat"
        )

    def list_programs(self) -> list[str]:
        return [*(f"worker-{number}" for number in range(self.workers)), "web"]

    def spawn(self, name: str) -> None:
        argv = [sys.executable, str(ROOT / "manage.py"), "runworker"]
        if name == "web":
            where = ("-b", "127.0.0.1", "-p", str(self.web_port))
            argv = [sys.executable, "-m", "daphne", *where, "jobctrl.asgi:application"]
        environment = self.workspace.build_environment() | {
            "DJANGO_SETTINGS_MODULE": "jobctrl.settings",
            "PYTHONPATH": str(ROOT),
            "LOG_LEVEL": "WARNING",
        }
        with self.workspace.worker_log.open("ab") as log:
            self.processes[name] = subprocess.Popen(
                build_tied_argv(argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def kill_one(self) -> None:
        """SIGKILL to one process, a pause, and its next start: what a supervisor would do, only meaner."""
        target = self.dice.choice([*self.list_programs(), *self.list_programs(), "temporal"])
        self.kills[target] += 1
        if target == "temporal":
            assert self.temporal is not None
            port = self.temporal.port
            self.temporal.kill()
            time.sleep(self.dice.uniform(0.0, 1.5))
            self.temporal = start_temporal(self.workspace.home / "temporal.db", port=port)
            return
        process = self.processes[target]
        process.kill()
        process.wait()
        time.sleep(self.dice.uniform(0.0, 1.0))
        self.spawn(target)

    def stop(self) -> None:
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if self.temporal is not None:
            self.temporal.kill()

    # --- one round -----------------------------------------------------------------------------

    def run_round(self, number: int, *, kills: int) -> None:
        """A discovery over a fresh board, killed into ``kills`` times, then left alone until it has settled."""
        board = f"parcels-{number}"
        serve_board(self.boards, board, build_postings(self.boards, number * 1000 + 1, self.jobs))
        add_boards(self.workspace, self.boards, board)
        run_id = self.start_patiently()
        for _ in range(kills):
            time.sleep(self.dice.uniform(0.2, 3.0))
            self.kill_one()
        self.settle(run_id)

    def start_patiently(self) -> str:
        """Start a discovery as an operator would: again, while the product says that it cannot yet."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            done = self.workspace.manage("run_stage", "discover", "--json")
            if done.returncode == 0:
                return str(json.loads(done.stdout.splitlines()[-1])["runId"])
            time.sleep(1)
        raise AssertionError(f"no discovery could be started: {done.stderr}")

    def settle(self, run_id: str) -> None:
        self.workspace.wait_for_run(run_id, seconds=SETTLE_SECONDS)
        self.workspace.wait_until(
            lambda: not self.workspace.count("workflow_run_projections", "status IN ('starting', 'in_progress')"),
            what="the end of every run",
            seconds=SETTLE_SECONDS,
        )

    # --- what must hold ------------------------------------------------------------------------

    def list_faults(self) -> list[str]:
        """Everything that is not as it must be; empty is what the episode is for."""
        return [fault for check in self.list_checks() for fault in check()]

    def list_checks(self) -> list[Callable[[], list[str]]]:
        return [self.find_unsettled, self.find_doubled, self.find_wrong_ends, self.find_false_states, self.find_dirt]

    def find_unsettled(self) -> list[str]:
        rows = self.workspace.query(
            "SELECT stage, state, count(*) FROM job_stage_states WHERE state IN ('running', 'queued') GROUP BY 1, 2"
        )
        over = self.workspace.query("SELECT count(*) FROM job_stage_states WHERE attempts > 5")[0][0]
        lost = self.workspace.count("jobs") - self.workspace.count("job_list_projections")
        return [
            *(f"{count} rows of {stage} are still {state}" for stage, state, count in rows),
            *([f"{over} rows have more than 5 attempts"] if over else []),
            *([f"{lost} jobs are not listed"] if lost else []),
        ]

    def find_doubled(self) -> list[str]:
        faults = []
        for kind in ONCE_A_JOB:
            twice = sum(count > 1 for count in self.workspace.count_per_job(kind).values())
            faults += [f"{kind} twice for {twice} jobs"] if twice else []
        doubled = self.workspace.query(
            "SELECT count(*) FROM (SELECT job_id, kind FROM artifacts GROUP BY job_id, kind HAVING count(*) > 1) twice"
        )[0][0]
        return [*faults, *([f"{doubled} artifacts are registered twice"] if doubled else [])]

    def find_wrong_ends(self) -> list[str]:
        """Each run has exactly one authoritative end."""
        ends = Counter(
            payload["runId"] for _, payload in self.workspace.list_events(*TERMINALS) if not payload.get("provisional")
        )
        runs = [row[0] for row in self.workspace.query("SELECT run_id FROM workflow_run_projections")]
        return [f"run {run} has {ends[run]} authoritative ends" for run in runs if ends[run] != 1]

    def find_false_states(self) -> list[str]:
        """What our records and Temporal say of each run, given one heartbeat to agree."""
        deadline = time.monotonic() + ONE_HEARTBEAT + 5
        while True:
            rows = self.workspace.query("SELECT workflow_id, run_id, status FROM workflow_run_projections")
            truth = self.workspace.call_temporal(partial(read_statuses, runs=[row[:2] for row in rows]))
            false = [
                f"{workflow_id} is {status} here and {truth[run_id]} in Temporal"
                for workflow_id, run_id, status in rows
                if truth[run_id] != status and not (truth[run_id] == "open" and status in OPEN)
            ]
            if not false or time.monotonic() > deadline:
                return false
            time.sleep(1)

    def find_dirt(self) -> list[str]:
        done = self.workspace.manage("verify_projections")
        stray = set(self.workspace.sweep_artifacts()) ^ set(self.workspace.list_artifact_paths())
        return [
            *([f"the projections differ from the log: {done.stdout}"] if done.returncode else []),
            *([f"{len(stray)} artifact files and rows do not match"] if stray else []),
        ]


async def read_statuses(client: Client, *, runs: list[tuple[str, str]]) -> dict[str, str]:
    async def read(workflow_id: str, run_id: str) -> tuple[str, str]:
        try:
            status = (await client.get_workflow_handle(workflow_id, run_id=run_id).describe()).status
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            return run_id, "not found"
        return run_id, STATUS_OF.get(status, "open") if status is not None else "unknown"

    return dict(await asyncio.gather(*(read(*run) for run in runs)))
