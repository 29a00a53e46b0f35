"""A backup of a product at work, put back after it was stopped: the run that was going on goes on and ends."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.boardserver import BoardServer
from tests.worker.boards import add_boards, build_postings, serve_board
from tests.worker.workspace import ROOT, SAMPLE_PROFILE, Workspace

JOBS = 8

pytestmark = [pytest.mark.worker, pytest.mark.browser]


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
            lines = list(iter(up.stdout.readline, "Everything is running. Ctrl-C stops it.\n"))
            assert any(line.startswith("worker: running") for line in lines), lines
            yield
        finally:
            up.send_signal(signal.SIGTERM)
            output, _ = up.communicate(timeout=60)
    assert "worker: ended with exit code" not in output


def test_a_run_that_was_backed_up_half_way_ends_after_the_restore(
    workspace: Workspace, boards: BoardServer, tmp_path: Path
) -> None:
    serve_board(boards, "parcels", build_postings(boards, 1, JOBS))
    add_boards(workspace, boards, "parcels")
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    workspace.temporal_address, workspace.namespace = "", ""
    with up_running(workspace):
        run_id = workspace.start_discovery()
        workspace.wait_until(lambda: workspace.count_events("JobScored") >= 2, what="two jobs are scored")
        printed = workspace.run("backup", "--to", str(tmp_path / "elsewhere"))
        workspace.wait_until(lambda: workspace.count_events("PdfRendered") == JOBS, what="the worker goes on by itself")
        (folder,) = (tmp_path / "elsewhere").glob("2*")
        assert str(folder) in printed
        live = workspace.manage("restore", str(folder))
        assert live.returncode == 1
        assert "already running" in live.stderr

    restored = workspace.run("restore", str(folder))

    assert "runs were open" in restored
    assert workspace.count_events("PdfRendered") < JOBS
    assert workspace.count_events("WorkspaceRestored") == 1
    assert workspace.count("workflow_run_projections", "status IN ('starting', 'in_progress')") > 0
    assert workspace.list_artifact_paths() == workspace.list_stored_files()
    with up_running(workspace):
        assert workspace.wait_for_run(run_id) == "succeeded"
    assert workspace.count("workflow_run_projections", "status <> 'succeeded'") == 0
    assert workspace.count_stages("pdf") == {"succeeded": JOBS}
    workspace.assert_nothing_twice()
