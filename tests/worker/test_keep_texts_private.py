"""Distinctive words in the profile, the postings and the error pages: they stay in the tables made for them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.boardserver import BoardServer, Reply, reply_html
from tests.worker.boards import add_boards, build_page, build_posting, describe_posting, list_path, serve_board
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

pytestmark = [pytest.mark.worker, pytest.mark.browser, pytest.mark.sqlite_alone]

NAME = "Quorvexia"
BULLET = "krellthorpe"
POSTING = "glimmerwock"
PAGE = "snorvelting"
ERROR = "frobnicatrix"
CANARIES = (NAME, BULLET, POSTING, PAGE, ERROR)


def test_no_text_leaves_its_own_tables(workspace: Workspace, boards: BoardServer, tmp_path: Path) -> None:
    serve_boards(boards)
    add_boards(workspace, boards, "parcels", "broken")
    workspace.run("import_profile", write_profile(tmp_path))
    workspace.environment["LOG_LEVEL"] = "INFO"
    workspace.start_worker()

    assert workspace.discover() == "failed"
    assert workspace.stop_worker() == 0

    assert workspace.count_stages("enrich") == {"succeeded": 2, "failed": 1}
    assert workspace.count_stages("pdf") == {"succeeded": 2}
    assert_kept(workspace, "SELECT document FROM tailored_resumes", NAME)
    assert_kept(workspace, "SELECT document FROM candidate_profiles", NAME, BULLET)
    assert_kept(workspace, "SELECT description FROM posting_content_snapshots", POSTING, PAGE)
    histories = workspace.export_histories()
    assert len(histories) == workspace.count("workflow_run_projections") == 3
    for (workflow_id, _), history in histories.items():
        assert_absent(decode_history(history), where=f"the history of {workflow_id}")
    for table in (
        "job_events",
        "operational_attempt_metrics",
        "worker_runtime_heartbeats",
        "workflow_pending_activities",
        "workflow_run_projections",
        "pipeline_step_projections",
        "job_list_projections",
        "job_detail_projections",
        "job_stage_states",
        "discovery_run_sources",
        "source_registry_entries",
        "discovery_runs",
    ):
        assert_absent(str(workspace.query(f"SELECT * FROM {table}")), where=table)
    assert_absent(workspace.read_worker_log(), where="the worker's log")
    assert workspace.count("job_list_projections", "company = 'Parcelwise'") == 3


def serve_boards(boards: BoardServer) -> None:
    postings = [
        build_posting(1, title="Backend Engineer", url=f"{boards.url}/jobs/1", content=describe_posting(note=POSTING)),
        build_posting(2, title="Platform Engineer", url=f"{boards.url}/jobs/2", content=""),
        build_posting(3, title="Data Engineer", url=f"{boards.url}/jobs/3", content=""),
    ]
    page = build_page(title="Platform Engineer", content=describe_posting(note=PAGE))
    boards.set_route("/jobs/2", Reply(body=page, content_type="text/html"))
    boards.set_route("/jobs/3", reply_html(f"<html><body>{ERROR}</body></html>", status=404))
    serve_board(boards, "parcels", postings)
    boards.set_route(list_path("broken"), reply_html(f"<html><body>{ERROR}</body></html>", status=403))


def write_profile(folder: Path) -> str:
    profile = json.loads(SAMPLE_PROFILE.read_text(encoding="utf-8"))
    profile["basics"]["name"] = f"Ada {NAME}"
    highlights = profile["work"][0]["highlights"]
    highlights.insert(0, f"Built the {BULLET} ledger in Python, Django and PostgreSQL on Kubernetes")
    path = folder / "profile.json"
    path.write_text(json.dumps(profile), encoding="utf-8")
    return str(path)


def decode_history(history: str) -> str:
    """The history's JSON, followed by every payload in it as text."""
    payloads: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("data"), str):
                payloads.append(base64.b64decode(value["data"]).decode("utf-8", "replace"))
            for item in value.values():
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    collect(json.loads(history))
    assert any('"workspace_identity"' in payload for payload in payloads)
    return history + "\n".join(payloads)


def assert_absent(text: str, *, where: str) -> None:
    assert text
    found = [canary for canary in CANARIES if canary.casefold() in text.casefold()]
    assert not found, f"{found} in {where}"


def assert_kept(workspace: Workspace, statement: str, *canaries: str) -> None:
    """Where a text belongs it is found: else this test would say nothing."""
    text = str(workspace.query(statement))
    assert [canary for canary in canaries if canary in text] == list(canaries)
