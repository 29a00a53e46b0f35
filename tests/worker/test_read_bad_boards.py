"""Boards that answer badly: each is a typed failure, and what the others hold is found and prepared all the same."""

import json
from pathlib import Path

import pytest

from tests.boardserver import (
    BoardServer,
    Reply,
    reply_big,
    reply_hang,
    reply_html,
    reply_json,
    reply_status,
    reply_truncated,
)
from tests.worker.boards import add_boards, build_posting, build_postings, describe_posting, list_path, serve_board
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
A_MINUTE = 60.0

FAILING = reply_status(500)

#: Board, its answers, the code it is recorded with, and how often it is asked: once where a retry cannot help.
BAD_BOARDS: list[tuple[str, list[Reply], str, int]] = [
    ("gone", [reply_status(404)], "NOT_FOUND", 1),
    ("busy", [reply_status(429)], "RATE_LIMITED", 3),
    ("broken", [FAILING], "SOURCE_UNAVAILABLE", 3),
    ("website", [reply_html("<html><body>We are hiring!</body></html>")], "HTML_INSTEAD_OF_JSON", 3),
    ("cut", [reply_truncated({"jobs": [{"id": 1, "title": "Backend Engineer"}]})], "TRUNCATED_JSON", 3),
    ("huge", [reply_big()], "BODY_TOO_LARGE", 1),
    ("silent", [FAILING, FAILING, reply_hang(A_MINUTE)], "TIMED_OUT", 3),
    ("other", [reply_json({"postings": []})], "MALFORMED_BOARD", 1),
]


@pytest.mark.browser
def test_bad_boards_are_typed_failures_and_the_good_ones_are_prepared(
    workspace: Workspace, boards: BoardServer
) -> None:
    for board, replies, _, _ in BAD_BOARDS:
        serve_board(boards, board, *replies)
    nameless = {**build_posting(3, title="", url=f"{boards.url}/jobs/3"), "title": None}
    serve_board(boards, "parcels", [*build_postings(boards, 1, 2), nameless])
    add_boards(workspace, boards, *(board for board, *_ in BAD_BOARDS), "parcels")
    workspace.run("add_source", "bundled")
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    workspace.set_minimum_fit(9)
    workspace.start_worker()

    assert workspace.discover() == "failed"

    found = {
        source.partition(":")[2]: (state, code)
        for source, state, code in workspace.query(
            "SELECT source_id, state, error_code FROM discovery_run_sources WHERE family <> 'bundled'"
        )
    }
    assert found.pop("parcels") == ("succeeded", "")
    assert found == {board: ("failed", code) for board, _, code, _ in BAD_BOARDS}
    assert {board: boards.count_requests(list_path(board)) for board, *_ in BAD_BOARDS} == {
        board: attempts for board, _, _, attempts in BAD_BOARDS
    }
    assert boards.count_requests(list_path("parcels")) == 1
    ((counts,),) = workspace.query("SELECT counts FROM discovery_run_sources WHERE source_id = 'greenhouse:parcels'")
    counts = json.loads(counts) if isinstance(counts, str) else counts
    assert (counts["skipped"], counts["skipped_missing_title"]) == (1, 1)

    prepared = workspace.find_job("Backend Engineer 1")
    assert workspace.find_stage(prepared, "pdf")[0] == "succeeded"
    assert workspace.count("jobs", "board <> 'parcels'") > 20
    assert workspace.count_stages("pdf").keys() == {"succeeded"}
    (ended,) = [payload for _, payload in workspace.list_events("WorkflowFailed")]
    assert ended["workflowType"] == "DiscoverWorkflow"
    assert workspace.count_stages("score")["succeeded"] > 20
    assert ended["errorCode"] in ("source_unavailable", "transient_network")
    assert workspace.query("SELECT status, error_code FROM discovery_runs") == [("failed", ended["errorCode"])]
    (failed,) = workspace.query("SELECT error_code FROM pipeline_step_projections WHERE state = 'failed'")
    assert failed == (ended["errorCode"],)
    workspace.assert_nothing_twice()


def test_a_board_that_recovers_is_read_alone_and_the_run_succeeds(workspace: Workspace, boards: BoardServer) -> None:
    """Real payloads of the three kinds, beside a board that fails twice and holds what no table takes as it is."""
    if not DATA.is_dir():
        pytest.skip("the captured payloads of ../shared/data are not here")
    payloads = {
        ("greenhouse", "amplitude"): ("/v1/boards/amplitude/jobs", "greenhouse/amplitude-content.json"),
        ("lever", "jumpcloud"): ("/v0/postings/jumpcloud", "lever/jumpcloud.json"),
        ("ashby", "HighlightTA"): ("/posting-api/job-board/HighlightTA", "ashby/highlightta.json"),
    }
    for (kind, board), (path, file) in payloads.items():
        boards.set_route(path, Reply(body=(DATA / file).read_bytes()))
        workspace.run("add_source", kind, board, "--base-url", boards.url)
    long_id = {**build_posting(4, title="Backend Engineer 4", url=f"{boards.url}/jobs/4"), "id": "x" * 190}
    content = describe_posting(note="\u0000 zéro")
    unstorable = build_posting(5, title="Backend\u0000 Engineer 5", url=f"{boards.url}/jobs/5", content=content)
    postings = [*build_postings(boards, 1, 2), long_id, unstorable]
    serve_board(boards, "parcels", reply_status(503), reply_status(503), postings)
    workspace.run("add_source", "greenhouse", "parcels", "--base-url", boards.url)
    workspace.start_worker()

    assert workspace.discover() == "succeeded"

    assert boards.count_requests(list_path("parcels")) == 3
    assert [boards.count_requests(path) for path, _ in payloads.values()] == [1, 1, 1]
    titles = {title for (title,) in workspace.query("SELECT title FROM jobs")}
    assert titles >= {
        "Customer Data Scientist - Experimentation",
        "Account Executive, North America SMB - India",
        "Senior Technical Recruiter",
        "Backend Engineer 1",
    }
    jobs = workspace.count("jobs")
    assert jobs >= 9
    assert workspace.count_stages("enrich") == {"succeeded": jobs}
    steps = workspace.query("SELECT state, attempt FROM pipeline_step_projections WHERE kind = 'source_family'")
    assert steps == [("succeeded", 3)]
    assert set(workspace.query("SELECT times_seen FROM job_source_observations")) == {(1,)}
    assert workspace.query("SELECT DISTINCT plan_state, plan_reason FROM discovery_execution_jobs") == [
        ("not_eligible", "NO_PROFILE")
    ]
    workspace.assert_nothing_twice()
