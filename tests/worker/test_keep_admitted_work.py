"""What changes under a run that is going: a newer profile, and a job that its owner deletes."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.boardserver import BoardServer, reply_json
from tests.worker.boards import add_boards, build_postings, list_path
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

pytestmark = [pytest.mark.worker, pytest.mark.browser, pytest.mark.sqlite_alone]


def test_admitted_work_keeps_its_profile_and_a_deleted_job_publishes_nothing(
    workspace: Workspace, boards: BoardServer, tmp_path: Path
) -> None:
    payload = {"jobs": build_postings(boards, 1, 1)}
    boards.set_route(list_path("parcels"), replace(reply_json(payload), hang_seconds=8.0))
    add_boards(workspace, boards, "parcels")
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    worker = workspace.start_worker()
    run_id = workspace.start_discovery()

    workspace.wait_until(lambda: boards.count_requests(list_path("parcels")) == 1, what="the board is being read")
    assert workspace.run_json("import_profile", write_newer_profile(tmp_path))["version"] == 2

    workspace.wait_until(lambda: workspace.count_stages("cover") == {"succeeded": 1}, what="the letter is written")
    workspace.freeze_worker_while(
        lambda: workspace.count_stages("pdf") == {"running": 1}, what="the document is being rendered"
    )
    job = workspace.find_job("Backend Engineer 1")
    workspace.run_python(
        f"from uuid import UUID\nfrom discovery.services.jobs import delete_jobs\ndelete_jobs([UUID({job!r})])"
    )
    os.kill(worker, signal.SIGCONT)

    assert workspace.wait_for_run(run_id) == "succeeded"
    for table in ("job_scores", "tailored_resumes", "cover_letters"):
        assert workspace.query(f"SELECT profile_version FROM {table}") == [(1,)]
    assert workspace.count_events("PdfRendered") == workspace.count("artifacts") == 0
    assert workspace.find_stage(job, "pdf")[0] not in ("running", "succeeded")
    assert workspace.count("job_list_projections", "deleted") == 1
    recorded = workspace.count_events("StageStarted")
    late = workspace.run_json("run_stage", "pdf", "--job", job, "--wait")
    assert late["result"] == {"canceled": "1"}
    assert workspace.count_events("StageStarted") == recorded
    assert workspace.sweep_artifacts() == []
    workspace.assert_nothing_twice()


def write_newer_profile(folder: Path) -> str:
    profile = json.loads(SAMPLE_PROFILE.read_text(encoding="utf-8"))
    profile["basics"]["label"] = "Principal Backend Engineer"
    path = folder / "newer.json"
    path.write_text(json.dumps(profile), encoding="utf-8")
    return str(path)
