"""A real worker notes what a run tries again, and forgets it with the run."""

import pytest

from tests.boardserver import BoardServer, reply_hang, reply_status
from tests.processes import wait_until
from tests.worker.boards import add_boards, build_postings, serve_board
from tests.worker.workspace import Workspace

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]

RETRYING = "activity_type = 'crawl_source_family' AND attempt > 1 AND maximum_attempts = 3"


def test_a_board_that_is_asked_again_is_seen_while_it_is(workspace: Workspace, boards: BoardServer) -> None:
    serve_board(boards, "parcels", reply_status(503), reply_hang(60), build_postings(boards, 1, 2))
    add_boards(workspace, boards, "parcels")
    workspace.start_worker()
    run_id = workspace.start_discovery()

    wait_until(
        lambda: workspace.count("workflow_pending_activities", RETRYING) == 1, what="the retry is seen", seconds=45
    )
    assert workspace.query("SELECT run_id, error_code FROM workflow_pending_activities") == [
        (run_id, "source_unavailable")
    ]
    assert workspace.wait_for_run(run_id) == "succeeded"
    assert workspace.count("workflow_pending_activities") == 0
