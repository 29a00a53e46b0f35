"""``run_stage`` as an operator uses it: one stage at a time, exit codes, and what it says when it cannot."""

import json
import os
import resource
from uuid import uuid4

import pytest

from tests.boardserver import BoardServer
from tests.worker.boards import add_boards, build_postings, serve_board
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

pytestmark = [pytest.mark.worker, pytest.mark.browser]

SMALL_FILES = 8 * 1024


def test_each_stage_runs_by_hand_and_a_full_disk_is_a_typed_failure(workspace: Workspace, boards: BoardServer) -> None:
    serve_board(boards, "parcels", build_postings(boards, 1, 2))
    add_boards(workspace, boards, "parcels")
    before = workspace.list_events()
    refused = workspace.manage("run_stage", "discover")
    assert refused.returncode == 1
    assert "No worker is running. Start everything with: manage.py up" in refused.stderr
    assert workspace.list_events() == before

    worker = workspace.start_worker()
    assert workspace.discover() == "succeeded"
    first, second = workspace.find_job("Backend Engineer 1"), workspace.find_job("Backend Engineer 2")
    without_profile = workspace.manage("run_stage", "score", "--job", first)
    assert without_profile.returncode == 1
    assert "There is no candidate profile yet. Run: manage.py import_profile FILE" in without_profile.stderr
    workspace.run("import_profile", str(SAMPLE_PROFILE))

    for stage, arguments in (
        ("enrich", ["--job", first]),
        ("score", ["--job", first, "--job", second]),
        ("tailor", []),
        ("cover", ["--limit", "2"]),
        ("pdf", ["--job", first]),
    ):
        body = workspace.run_json("run_stage", stage, *arguments, "--wait")
        expected = {"enrich": "1", "pdf": "1"}.get(stage, "2")
        assert (body["status"], body["result"], body["existing"]) == ("succeeded", {"succeeded": expected}, False), (
            stage
        )
    assert workspace.count_stages("pdf") == {"succeeded": 1}

    done = workspace.run_json("run_stage", "score", "--job", first, "--wait")
    assert done["result"] == {"succeeded": "1"}
    assert workspace.count_per_job("JobScored")[first] == 1
    rows = workspace.count("job_stage_states")
    for stage in ("score", "pdf"):
        unknown = workspace.manage("run_stage", stage, "--job", str(uuid4()), "--wait", "--json")
        assert unknown.returncode == 1, unknown.stdout
        assert json.loads(unknown.stdout)["result"] == {"failed": "1"}
    assert workspace.count("job_stage_states") == rows

    assert_one_key_starts_one_run(workspace, first)
    assert_full_disk_is_survived(workspace, worker, second)
    workspace.assert_nothing_twice()


def assert_one_key_starts_one_run(workspace: Workspace, job_id: str) -> None:
    """Asked for by three threads at once, and again when it is over."""
    program = (
        "from concurrent.futures import ThreadPoolExecutor\nfrom uuid import UUID\n"
        "from operations.services.starts import start_pipeline\n"
        "def start(_):\n"
        f"    jobs = [UUID({job_id!r})]\n"
        "    run = start_pipeline('score', profile_version=1, job_ids=jobs, idempotency_key='of-a-form')\n"
        "    return run.run_id, run.existing\n"
        "with ThreadPoolExecutor(3) as threads:\n"
        "    for run_id, existing in threads.map(start, range(3)):\n"
        "        print(run_id, existing)"
    )
    answers = [line.split() for line in workspace.run_python(program).splitlines()]
    assert len({run_id for run_id, _ in answers}) == 1
    assert sorted(existing for _, existing in answers) == ["False", "True", "True"]
    assert workspace.wait_for_run(answers[0][0]) == "succeeded"
    assert workspace.run_python(program).splitlines() == [f"{answers[0][0]} True"] * 3


def assert_full_disk_is_survived(workspace: Workspace, worker: int, job_id: str) -> None:
    """No file of the running worker may grow beyond 8 KB: the document cannot be stored."""
    stored = workspace.list_stored_files()
    resource.prlimit(worker, resource.RLIMIT_FSIZE, (SMALL_FILES, resource.RLIM_INFINITY))
    run = workspace.run_json("run_stage", "pdf", "--job", job_id)
    if workspace.database_url:
        workspace.wait_until(lambda: workspace.find_stage(job_id, "pdf")[0] == "failed", what="the typed failure")
        assert workspace.find_stage(job_id, "pdf")[2] == "ARTIFACT_WRITE_FAILED"
        (failure,) = [payload for _, payload in workspace.list_events("StageFailed")]
        assert "Free space on the disk" in failure["message"]
    else:
        # The database itself is in a file that cannot grow, so nothing can be claimed at all.
        workspace.wait_until(lambda: "OperationalError" in workspace.read_worker_log(), what="the database's refusal")
        assert workspace.find_stage(job_id, "pdf")[0] != "succeeded"
    assert workspace.list_stored_files() == stored
    resource.prlimit(worker, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert workspace.wait_for_run(str(run["runId"])) in ("succeeded", "failed")
    again = workspace.run_json("run_stage", "pdf", "--job", job_id, "--wait")
    assert again["result"] == {"succeeded": "1"}
    assert os.kill(worker, 0) is None  # type: ignore[func-returns-value]
