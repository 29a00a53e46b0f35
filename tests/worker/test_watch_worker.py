"""What a real worker shows of itself: the SDK's metrics, and log lines that name their work and hold no content."""

import json
import urllib.request

import pytest

from tests.boardserver import BoardServer
from tests.processes import choose_quiet_port
from tests.worker.boards import add_boards, build_postings, serve_board
from tests.worker.workspace import Workspace

pytestmark = [pytest.mark.worker, pytest.mark.sqlite_alone]


def read_metrics(port: int) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
        return text


def test_it_shows_the_sdks_metrics_and_names_its_work(workspace: Workspace, boards: BoardServer) -> None:
    port = choose_quiet_port()
    workspace.environment |= {
        "JOBCTRL_WORKER_METRICS_ADDRESS": f"127.0.0.1:{port}",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "DEBUG",
    }
    serve_board(boards, "parcels", build_postings(boards, 1, 2))
    add_boards(workspace, boards, "parcels")
    workspace.start_worker()
    run_id = workspace.start_discovery()
    assert workspace.wait_for_run(run_id) == "succeeded"

    metrics = read_metrics(port)
    assert 'temporal_activity_execution_latency_count{activity_type="enrich_jobs"' in metrics
    assert "discover-local" not in metrics

    lines = [json.loads(line) for line in workspace.read_worker_log().splitlines()]
    ours = [line for line in lines if line.get("run_id") == run_id]
    assert {line["workflow_id"] for line in ours} == {"discover-local"}
    assert "enrich_jobs" in {line.get("activity_type") for line in ours}
    assert not any("parcels through Europe" in json.dumps(line) for line in lines)
