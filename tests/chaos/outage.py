"""Temporal stopped in the middle of a run and started again; its database wiped; the old one put back.

In each phase the runs page, the API and health say what is so, and nothing that cannot be known.
"""

import html
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.boardserver import BoardServer, Reply
from tests.chaos.asking import Web, sign_in
from tests.chaos.doubles import find_doubles
from tests.chaos.programs import Programs
from tests.chaos.settling import find_unsettled
from tests.chaos.truth import AGREE_SECONDS, read_temporals
from tests.worker.boards import add_boards, build_page, build_postings, serve_board
from tests.worker.workspace import SAMPLE_PROFILE, TERMINALS, Workspace

#: A page each second: long enough to be interrupted in the middle.
PAGE_SECONDS = 1.0
JOBS = 8
#: A question to Temporal is asked again after five seconds, and waits at most three for its answer.
NOTICE_SECONDS = 20.0
_CHIP = re.compile(r'class="chip[^"]*"[^>]*>([^<]+)')


@dataclass(slots=True)
class Outage:
    """``seconds``: for how long Temporal stays away. ``power_cut``: the workers die with it, so that those which come
    back look at every run when they start; else they live on and notice on their heartbeat."""

    workspace: Workspace
    boards: BoardServer
    seconds: float
    power_cut: bool = True
    programs: Programs = field(init=False)
    web: Web = field(init=False)

    def __post_init__(self) -> None:
        self.programs = Programs(self.workspace)

    def start(self) -> None:
        self.programs.start()
        self.workspace.run("import_profile", str(SAMPLE_PROFILE))
        self.web = sign_in(self.workspace, self.programs.web_port)

    def stop(self) -> None:
        self.programs.stop()

    def run(self) -> None:
        """Every phase in turn; raises ``AssertionError`` where one of the three says something else than what is so."""
        first = self.start_slow_run(1)
        self.lose_temporal(first)
        self.get_temporal_back(first)
        second = self.start_slow_run(2)
        kept = self.wipe_temporal(second)
        self.restore_temporal(second, kept)
        assert find_unsettled(self.workspace) == []
        assert find_doubles(self.workspace) == []
        self.workspace.assert_clean()

    def start_slow_run(self, number: int) -> str:
        """A discovery whose enrichment is under way."""
        first = number * 100 + 1
        page = Reply(body=build_page(title="Engineer"), content_type="text/html", hang_seconds=PAGE_SECONDS)
        for job in range(first, first + JOBS):
            self.boards.set_route(f"/jobs/{job}", page)
        serve_board(self.boards, f"slow-{number}", build_postings(self.boards, first, JOBS, content=""))
        add_boards(self.workspace, self.boards, f"slow-{number}")
        done = self.workspace.count_events("JobEnriched")
        run_id = self.workspace.start_discovery()
        self.workspace.wait_until(
            lambda: self.workspace.count_events("JobEnriched") > done and bool(self.list_held(run_id)),
            what="the enrichment is under way",
        )
        return run_id

    # --- the phases ----------------------------------------------------------------------------

    def lose_temporal(self, run_id: str) -> None:
        assert self.programs.temporal is not None
        self.programs.temporal.stop()
        lost_at = time.monotonic()
        self.wait_for(lambda: self.read_health()["temporal"] == "unreachable", what="health misses Temporal")
        self.wait_for(lambda: self.read_chips("/runs/")[:1] == ["Not checked"], what="the runs page misses Temporal")
        while True:
            health, run = self.read_health(), self.read_run(run_id)
            assert health["status"] == "degraded", health
            assert (health["temporal"], health["worker"]) == ("unreachable", "alive"), health
            assert (run["status"], run["checked"]) == ("in_progress", False), run
            for path in ("/runs/", f"/runs/{run_id}/"):
                chips = self.read_chips(path)
                assert "Not checked" in chips, f"{path} says {chips}"
                assert "Running" not in chips, f"{path} says {chips}"
            if time.monotonic() - lost_at > self.seconds:
                break
            time.sleep(1)
        refused = self.workspace.manage("run_stage", "discover")
        assert refused.returncode == 1, refused.stdout
        assert "manage.py up" in refused.stderr or "Try again" in refused.stderr, refused.stderr

    def get_temporal_back(self, run_id: str) -> None:
        self.programs.start_temporal_again()
        self.wait_for(lambda: self.read_health()["temporal"] == "reachable", what="health finds Temporal")
        self.wait_for(lambda: self.read_run(run_id)["checked"], what="the API can check the run")
        assert self.workspace.wait_for_run(run_id) == "succeeded"
        assert self.ask_temporal(run_id) == "succeeded"
        assert self.list_story(run_id)[-1] == "WorkflowCompleted"
        assert "Not checked" not in self.read_chips("/runs/")

    def wipe_temporal(self, run_id: str) -> Path:
        """Returns where the old database lies."""
        self.cut()
        held = self.list_held(run_id)
        kept = self.workspace.home / "kept"
        move_database(self.workspace.home, kept)
        self.come_back()
        self.wait_for(lambda: self.read_run(run_id)["provisional"], what="an assumed end", seconds=AGREE_SECONDS)
        health, run = self.read_health(), self.read_run(run_id)
        assert (health["temporal"], health["worker"]) == ("reachable", "alive"), health
        assert (run["status"], run["reasonCode"]) == ("terminated", "reconciled_not_found"), run
        chips = self.read_chips(f"/runs/{run_id}/")
        assert "End unknown" in chips, chips
        assert "Running" not in chips, chips
        assert "Temporal no longer knows this run" in self.web.read_page(f"/runs/{run_id}/")
        if self.power_cut:
            assert self.list_held(run_id) == held != [], "rows of a run whose end is only assumed keep their owner"
        return kept

    def restore_temporal(self, run_id: str, kept: Path) -> None:
        self.cut()
        move_database(self.workspace.home, self.workspace.home / "of-the-wipe")
        move_database(kept, self.workspace.home)
        self.come_back()
        self.wait_for(lambda: not self.read_run(run_id)["provisional"], what="the run is back", seconds=AGREE_SECONDS)
        assert self.workspace.wait_for_run(run_id) == "succeeded"
        assert self.ask_temporal(run_id) == "succeeded"
        assert self.read_run(run_id)["status"] == "succeeded"
        assert self.list_story(run_id)[-3:] == [
            "WorkflowTerminated, provisional",
            "WorkflowStarted, recovered",
            "WorkflowCompleted",
        ]

    def cut(self) -> None:
        for name in self.programs.list_workers() if self.power_cut else ():
            self.programs.kill(name)
        self.programs.kill_temporal()

    def come_back(self) -> None:
        self.programs.start_temporal_again()
        for name in self.programs.list_workers() if self.power_cut else ():
            self.programs.spawn(name)
        self.programs.wait_for_workers()

    # --- what is said --------------------------------------------------------------------------

    def read_health(self) -> dict[str, str]:
        """Each part's state, and ``status``."""
        body = self.web.read_json("/v1/health")
        return {name: part if isinstance(part, str) else part["state"] for name, part in body.items()}

    def read_run(self, run_id: str) -> dict[str, Any]:
        return self.web.read_json(f"/v1/workflow-runs/{run_id}")

    def read_chips(self, path: str) -> list[str]:
        return [html.unescape(word).strip() for word in _CHIP.findall(self.web.read_page(path))]

    def list_held(self, run_id: str) -> list[tuple[str, str, int]]:
        """Rows that this run works on: job, stage and lease."""
        rows = self.workspace.query(
            "SELECT job_id, stage, lease_epoch FROM job_stage_states WHERE state = 'running' AND owner_run_id = %s "
            "ORDER BY job_id, stage",
            run_id,
        )
        return [(str(job_id), stage, epoch) for job_id, stage, epoch in rows]

    def list_story(self, run_id: str) -> list[str]:
        events = self.workspace.list_events("WorkflowStarted", *TERMINALS)
        return [describe(kind, payload) for kind, payload in events if payload["runId"] == run_id]

    def ask_temporal(self, run_id: str) -> str:
        run = self.read_run(run_id)
        return self.workspace.call_temporal(partial(read_temporals, runs=[(run["workflowId"], run_id)]))[run_id].status

    def wait_for(self, claim: Callable[[], bool], *, what: str, seconds: float = NOTICE_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not claim():
            assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}\n{self.workspace.describe()}"
            time.sleep(0.3)


def describe(kind: str, payload: dict[str, Any]) -> str:
    marks = [mark for mark in ("provisional", "recovered") if payload.get(mark)]
    return ", ".join([kind, *marks])


def move_database(source: Path, target: Path) -> None:
    """Temporal's file with what SQLite keeps beside it."""
    target.mkdir(exist_ok=True)
    for path in list(source.glob("temporal.db*")):
        path.rename(target / path.name)
