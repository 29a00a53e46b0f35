"""SIGKILL and SIGTERM to the worker in the middle of its work: the run finishes and nothing is done twice."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.boardserver import BoardServer, Reply, reply_hang
from tests.processes import wait_until
from tests.worker.boards import add_boards, build_page, build_posting, build_postings, list_path, serve_board
from tests.worker.workspace import ROOT, SAMPLE_PROFILE, TERMINALS, Workspace

pytestmark = pytest.mark.worker

LONGER_THAN_THE_TEST = 300.0


@pytest.mark.browser
def test_a_run_survives_kills_while_crawling_enriching_and_rendering(workspace: Workspace, boards: BoardServer) -> None:
    page = Reply(body=build_page(title="Platform Engineer"), content_type="text/html")
    without_text = build_posting(9, title="Platform Engineer", url=f"{boards.url}/jobs/9", content="")
    boards.set_route("/jobs/9", reply_hang(LONGER_THAN_THE_TEST), page)
    serve_board(boards, "parcels", reply_hang(LONGER_THAN_THE_TEST), [*build_postings(boards, 1, 3), without_text])
    add_boards(workspace, boards, "parcels")
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    workspace.start_worker()
    run_id = workspace.start_discovery()

    workspace.wait_until(lambda: boards.count_requests(list_path("parcels")) == 1, what="the board is being read")
    workspace.kill_worker()
    workspace.start_worker()
    workspace.wait_until(lambda: boards.count_requests("/jobs/9") == 1, what="a page is being read")
    workspace.kill_worker()
    assert workspace.find_stage(workspace.find_job("Platform Engineer"), "enrich")[:2] == ("running", 1)
    workspace.start_worker()
    workspace.wait_until(lambda: "running" in workspace.count_stages("pdf"), what="a document is being rendered")
    killed = workspace.kill_worker()
    wait_until(lambda: not list_session(killed), what="the killed worker's browser is gone")
    workspace.start_worker()

    assert workspace.wait_for_run(run_id) == "succeeded"
    assert workspace.count("jobs") == 4
    assert workspace.count_stages("pdf") == {"succeeded": 4}
    assert workspace.find_stage(workspace.find_job("Platform Engineer"), "enrich")[:2] == ("succeeded", 2)
    assert boards.count_requests(list_path("parcels")) == boards.count_requests("/jobs/9") == 2
    assert set(workspace.query("SELECT times_seen FROM job_source_observations")) == {(1,)}
    workspace.assert_nothing_twice()


@pytest.mark.browser
@pytest.mark.sqlite_alone
def test_up_starts_a_killed_worker_again_and_the_preparations_go_on(workspace: Workspace) -> None:
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    workspace.run("add_source", "bundled")
    workspace.temporal_address, workspace.namespace = "", ""
    with subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "up"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=workspace.build_environment(),
    ) as up:
        assert up.stdout is not None
        try:
            lines = list(iter(up.stdout.readline, "Everything is running. Ctrl-C stops it.\n"))
            (worker,) = re.findall(r"worker: running.*\(pid (\d+)", "".join(lines))
            run_id = workspace.start_discovery()
            workspace.wait_until(lambda: workspace.count_events("JobScored") >= 5, what="five jobs are scored")
            os.kill(int(worker), signal.SIGKILL)
            scored = workspace.count_events("JobScored")

            assert workspace.wait_for_run(run_id) == "succeeded"
        finally:
            up.send_signal(signal.SIGTERM)
            try:
                output, _ = up.communicate(timeout=60)
            finally:
                up.kill()
    assert "worker: ended with exit code -9; starting it again" in output
    assert workspace.count_events("JobScored") > scored
    assert workspace.count("worker_runtime_heartbeats") == 2
    assert workspace.count("workflow_run_projections", "status <> 'succeeded'") == 0
    assert workspace.count_stages("pdf").keys() == {"succeeded"}
    workspace.assert_nothing_twice()


def test_a_worker_told_to_stop_hands_its_batch_to_the_next(workspace: Workspace, boards: BoardServer) -> None:
    """Without a profile, so that the enrichment pass is the whole of the work."""
    slow_page = Reply(body=build_page(title="Backend Engineer"), content_type="text/html", hang_seconds=0.4)
    for number in range(1, 9):
        boards.set_route(f"/jobs/{number}", slow_page)
    serve_board(boards, "parcels", build_postings(boards, 1, 8, content=""))
    add_boards(workspace, boards, "parcels")
    workspace.start_worker()
    run_id = workspace.start_discovery()
    workspace.wait_until(lambda: workspace.count_events("JobEnriched") >= 2, what="two of eight jobs are enriched")

    asked_at = time.monotonic()
    assert workspace.stop_worker() == 0
    assert time.monotonic() - asked_at < 12
    done = workspace.count_events("JobEnriched")
    assert done < 8
    assert "running" not in workspace.count_stages("enrich")
    assert workspace.count("worker_runtime_heartbeats", "stopped_at IS NOT NULL") == 1
    assert workspace.list_events("StageCanceled", *TERMINALS) == []
    refused = workspace.manage("run_stage", "enrich")
    assert refused.returncode == 1
    assert "No worker is running. Start everything with: manage.py up" in refused.stderr

    workspace.start_worker()
    assert workspace.wait_for_run(run_id) == "succeeded"
    assert set(workspace.count_per_job("JobEnriched").values()) == {1}
    assert len(workspace.count_per_job("JobEnriched")) == 8
    assert workspace.list_events("StageCanceled", "StageFailed") == []
    assert sum(boards.count_requests(f"/jobs/{number}") for number in range(1, 9)) == 8
    workspace.assert_nothing_twice()


def list_session(leader: int) -> list[int]:
    """Living processes of the session that a worker led."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = entry.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state not in "ZX":
            found.append(int(entry.parent.name))
    return found
