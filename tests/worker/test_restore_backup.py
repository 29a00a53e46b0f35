"""A backup of a product at work, put back after it was stopped: the run that was going on goes on and ends."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.boardserver import BoardServer, Reply
from tests.worker.boards import add_boards, build_page, build_postings, serve_board
from tests.worker.workspace import ROOT, SAMPLE_PROFILE, Workspace

JOBS = 10
#: Long enough that a command has started before the last page was read; afterwards the pages come at once.
PAGE_SECONDS = 5.0

pytestmark = [pytest.mark.worker, pytest.mark.browser, pytest.mark.sqlite_alone]


@contextmanager
def up_running(workspace: Workspace) -> Iterator[None]:
    with subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "up"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=workspace.build_environment(),
    ) as up:
        assert up.stdout is not None
        try:
            lines = []
            for line in up.stdout:
                lines.append(line)
                if line.startswith("Everything is running."):
                    break
            assert lines and lines[-1].startswith("Everything is running."), lines
            assert any(line.startswith("worker: running") for line in lines), lines
            yield
        finally:
            up.send_signal(signal.SIGTERM)
            output, _ = up.communicate(timeout=60)
    assert "worker: ended with exit code" not in output


def serve_pages(boards: BoardServer, *, hang_seconds: float) -> None:
    for number in range(1, JOBS + 1):
        page = build_page(title=f"Backend Engineer {number}")
        boards.set_route(f"/jobs/{number}", Reply(body=page, content_type="text/html", hang_seconds=hang_seconds))


def test_a_run_that_was_backed_up_half_way_ends_after_the_restore(
    workspace: Workspace, boards: BoardServer, tmp_path: Path
) -> None:
    serve_pages(boards, hang_seconds=PAGE_SECONDS)
    serve_board(boards, "parcels", build_postings(boards, 1, JOBS, content=""))
    add_boards(workspace, boards, "parcels")
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    workspace.temporal_address, workspace.namespace = "", ""
    with up_running(workspace):
        run_id = workspace.start_discovery()
        workspace.wait_until(lambda: workspace.count_events("JobEnriched") >= 1, what="one job is enriched")
        printed = workspace.run("backup", "--to", str(tmp_path / "elsewhere"))
        serve_pages(boards, hang_seconds=0.1)
        workspace.wait_until(lambda: workspace.count_events("JobEnriched") == JOBS, what="the worker goes on by itself")
        (folder,) = (tmp_path / "elsewhere").glob("2*")
        assert str(folder) in printed
        live = workspace.manage("restore", str(folder))
        assert live.returncode == 1
        assert "already running" in live.stderr

    restored = workspace.run("restore", str(folder))

    assert "runs were open" in restored
    assert 0 < workspace.count_events("JobEnriched") < JOBS
    assert workspace.count_events("WorkspaceRestored") == 1
    assert workspace.find_run_status(run_id) == "in_progress"
    assert workspace.list_artifact_paths() == workspace.list_stored_files()
    with up_running(workspace):
        assert workspace.wait_for_run(run_id) == "succeeded"
    assert workspace.count("workflow_run_projections", "status <> 'succeeded'") == 0
    assert workspace.count_stages("pdf") == {"succeeded": JOBS}
    workspace.assert_nothing_twice()
