"""A home or disk that cannot be used: refused with the remedy before work starts, or a typed failure of the write."""

from pathlib import Path

import pytest

from tests.boardserver import BoardServer
from tests.worker.boards import add_boards, build_postings, serve_board
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("JOBCTRL_HOME", "{file}/home", "Make it writable for this user, or set JOBCTRL_HOME to another folder."),
        ("JOBCTRL_MINIMUM_FREE_MB", str(10**9), "MB are needed before work starts. Free some space, or lower"),
    ],
)
@pytest.mark.parametrize("secret", ["of-a-test", ""])
def test_a_worker_refuses_to_start_where_it_could_not_work(
    workspace: Workspace, tmp_path: Path, setting: str, value: str, message: str, secret: str
) -> None:
    file = tmp_path / "a-file"
    file.write_text("not a folder")
    workspace.environment |= {setting: value.format(file=file), "SECRET_KEY": secret}

    refused = workspace.manage_anew("runworker")

    assert refused.returncode == 1
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    workspace.environment.pop(setting)
    assert workspace.count("worker_runtime_heartbeats") == workspace.count("job_events") == 0


@pytest.mark.browser
def test_a_document_that_cannot_be_stored_is_a_typed_failure_and_tried_again(
    workspace: Workspace, boards: BoardServer
) -> None:
    serve_board(boards, "parcels", build_postings(boards, 1, 1))
    add_boards(workspace, boards, "parcels")
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    workspace.start_worker()
    artifacts = workspace.home / "artifacts"
    artifacts.rmdir()
    artifacts.write_text("in the way")
    run_id = workspace.start_discovery()
    workspace.wait_until(lambda: workspace.count_stages("pdf") == {"failed": 1}, what="the failed write")

    job = workspace.find_job("Backend Engineer 1")
    assert workspace.find_stage(job, "pdf") == ("failed", 1, "ARTIFACT_WRITE_FAILED")
    (failure,) = [payload for _, payload in workspace.list_events("StageFailed")]
    assert "cannot be written" in failure["message"]
    assert failure["retryable"] is True
    assert workspace.count("artifacts") == workspace.count_events("PdfRendered") == 0

    artifacts.unlink()
    artifacts.mkdir(mode=0o700)
    assert workspace.wait_for_run(run_id) == "succeeded"
    assert workspace.find_stage(job, "pdf") == ("succeeded", 2, "")
    assert len(workspace.list_stored_files()) == 2
    workspace.assert_nothing_twice()
