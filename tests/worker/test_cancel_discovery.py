"""Cancelling a run through Temporal, and control writes while every slot is taken."""

import time
from datetime import datetime, timedelta

import pytest

from tests.boardserver import BoardServer, Reply, reply_hang
from tests.worker.boards import add_boards, build_page, build_posting, build_postings, list_path, serve_board
from tests.worker.workspace import Workspace

pytestmark = pytest.mark.worker

SLOTS = 3
A_MINUTE = 60.0
PUBLISHED = ("StageStarted", "StageCompleted", "JobEnriched", "PostingContentSnapshotCaptured", "WorkflowStarted")


def test_a_canceled_run_ends_within_seconds_and_publishes_nothing_more(
    workspace: Workspace, boards: BoardServer
) -> None:
    slow = build_posting(9, title="Platform Engineer", url=f"{boards.url}/jobs/9", content="")
    serve_board(boards, "parcels", [*build_postings(boards, 1, 2), slow, *build_postings(boards, 10, 2)])
    boards.set_route("/jobs/9", reply_hang(A_MINUTE))
    add_boards(workspace, boards, "parcels")
    workspace.start_worker()
    run_id = workspace.start_discovery()
    workspace.wait_until(lambda: boards.count_requests("/jobs/9") == 1, what="the third job's page is being read")

    workspace.cancel("discover-local")
    workspace.wait_until(
        lambda: workspace.find_run_status(run_id) == "canceled", what="the recorded cancellation", seconds=5
    )
    facts = workspace.list_events("WorkflowCancellationRequested", "WorkflowCanceled")
    assert [(kind, body.get("evidence"), bool(body.get("requester", True))) for kind, body in facts] == [
        ("WorkflowCancellationRequested", "temporal_history", True),
        ("WorkflowCanceled", None, True),
    ]

    assert workspace.query("SELECT status, error_code FROM discovery_runs") == [("failed", "canceled")]
    assert workspace.count_stages("enrich") == {"succeeded": 2, "canceled": 1, "pending": 2}
    assert workspace.find_stage(workspace.find_job("Platform Engineer"), "enrich")[2] == "workflow_canceled"
    published = workspace.list_events(*PUBLISHED)
    boards.set_route("/jobs/9", Reply(body=build_page(title="Platform Engineer"), content_type="text/html"))
    time.sleep(1.5)
    assert workspace.list_events(*PUBLISHED) == published
    passes = "SELECT state, error_code FROM pipeline_step_projections WHERE kind = 'enrichment_pass'"
    workspace.wait_until(lambda: workspace.query(passes) == [("failed", "canceled")], what="the pass's own end")
    assert workspace.count("discovery_execution_jobs", "plan_state = 'planned'") == 0

    # The next run takes up what was pending; what was canceled waits for its operator.
    assert workspace.discover() == "succeeded"
    assert workspace.count_stages("enrich") == {"succeeded": 4, "canceled": 1}
    workspace.assert_nothing_twice()


def test_a_control_write_is_quick_while_every_slot_is_taken(workspace: Workspace, boards: BoardServer) -> None:
    """A crawl and two enrichments hang; a fourth run says that it began although no slot is free."""
    serve_board(boards, "parcels", build_postings(boards, 1, SLOTS, content=""))
    serve_board(boards, "silent", reply_hang(A_MINUTE))
    page = Reply(body=build_page(title="Backend Engineer"), content_type="text/html")
    for number in range(1, SLOTS + 1):
        boards.set_route(f"/jobs/{number}", page)
    add_boards(workspace, boards, "parcels")
    workspace.run_python(
        "from operations.settings_store import change_settings\n"
        f"change_settings({{'worker_activity_slots': {SLOTS}}}, actor='test')"
    )
    workspace.start_worker()
    assert workspace.discover() == "succeeded"
    jobs = [workspace.find_job(f"Backend Engineer {number}") for number in range(1, SLOTS + 1)]
    workspace.run_python(
        "from uuid import UUID\nfrom operations.services.stages import reset_stages\n"
        f"print(reset_stages('enrich', [UUID(job) for job in {jobs}]))"
    )
    for number in range(1, SLOTS + 1):
        boards.set_route(f"/jobs/{number}", reply_hang(A_MINUTE))
    add_boards(workspace, boards, "silent")

    pages = count_page_requests(boards)
    runs = workspace.run_python(
        "import time\nfrom uuid import UUID\n"
        "from discovery.services.starts import start_discovery\n"
        "from operations.services.starts import start_pipeline\n"
        "start_discovery()\n"
        f"for job in {jobs}:\n"
        f"    if job == {jobs[-1]!r}:\n"
        "        time.sleep(1.5)\n"
        "    print(start_pipeline('enrich', profile_version=0, job_ids=[UUID(job)]).run_id)\n"
    ).split()
    assert boards.count_requests(list_path("silent")) + count_page_requests(boards) - pages == SLOTS

    started = "SELECT recorded_at FROM job_events WHERE event_type = 'WorkflowStarted' AND run_id = %s ORDER BY id"
    workspace.wait_until(lambda: len(workspace.query(started, runs[-1])) == 2, what="its start", seconds=2)
    times = [read_time(at) for (at,) in workspace.query(started, runs[-1])]
    assert abs(times[1] - times[0]) < timedelta(seconds=1)
    assert workspace.find_stage(jobs[2], "enrich")[0] == "pending"


def count_page_requests(boards: BoardServer) -> int:
    return sum(boards.count_requests(f"/jobs/{number}") for number in range(1, SLOTS + 1))


def read_time(value: object) -> datetime:
    """SQLite gives the text, PostgreSQL the value."""
    return value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
