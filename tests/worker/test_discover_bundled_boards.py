"""The main job from the bundled boards to the documents, as ``make demo`` runs it; then asked for again, twice at once."""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.processes import list_processes_in, wait_until
from tests.temporal import running_temporal
from tests.worker.workspace import SAMPLE_PROFILE, Workspace, on_postgres_alone

pytestmark = [pytest.mark.worker, pytest.mark.browser]

DONE_ONCE = ("JobDiscovered", "JobEnriched", "JobScored", "ResumeApproved", "CoverLetterGenerated", "PdfRendered")
DEMO_SECONDS = 400.0


@pytest.mark.sqlite_alone
def test_the_demo_does_it_all_and_a_second_run_adds_nothing(tmp_path: Path) -> None:
    workspace = Workspace(home=tmp_path / "home", database_url="", temporal_address="", namespace="")
    done = workspace.manage_anew("demo", "--headless", "--json", "--home", str(workspace.home), seconds=DEMO_SECONDS)

    assert done.returncode == 0, done.stderr
    summary = check_summary(workspace, done)
    wait_until(lambda: list_processes_in(workspace.home) == [], what="the end of everything that the demo started")
    workspace.assert_clean()
    check_first_run(workspace, summary["runId"])

    with running_temporal(workspace.home / "temporal.db") as server:
        workspace.temporal_address = server.address
        try:
            workspace.start_worker()
            check_second_run(workspace, summary["runId"])
        finally:
            workspace.close()


@on_postgres_alone
def test_it_takes_every_posting_to_its_documents_and_a_second_run_adds_nothing(workspace: Workspace) -> None:
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    workspace.run("add_source", "bundled")
    workspace.start_worker()

    first = start_twice_at_once(workspace)
    assert workspace.wait_for_run(first) == "succeeded"

    check_first_run(workspace, first)
    check_second_run(workspace, first)


def check_summary(workspace: Workspace, done: "subprocess.CompletedProcess[str]") -> dict[str, str]:
    """One JSON line on standard output and nothing else, and its counts are the workspace's own."""
    (line,) = done.stdout.splitlines()
    summary = json.loads(line)
    documents = workspace.count_stages("pdf")["succeeded"]
    counted = {
        "discovered": workspace.count("jobs"),
        "enriched": workspace.count_stages("enrich")["succeeded"],
        "scored": workspace.count_stages("score")["succeeded"],
        "tailored": workspace.count_stages("tailor")["succeeded"],
        "covers": workspace.count_stages("cover")["succeeded"],
        "pdfs": documents,
        "failed": 0,
    }
    assert {name: summary[name] for name in counted} == counted
    assert documents >= 5
    assert 0 < summary["secondsToFirstScore"] < summary["seconds"] < DEMO_SECONDS
    assert summary["projectionsClean"] is True
    assert summary["home"] == str(workspace.home)
    return {"runId": str(summary["runId"])}


def check_first_run(workspace: Workspace, first: str) -> None:
    """Every posting went as far as it should, and every step of it is told once."""
    jobs = workspace.count("jobs")
    assert jobs == workspace.count("discovery_execution_jobs", "run_id = %s", first) > 20
    assert workspace.count_stages("enrich") == {"succeeded": jobs}
    scored, covered = workspace.count_stages("score"), workspace.count_stages("cover")
    assert scored["succeeded"] == jobs - scored.get("blocked", 0) - scored.get("pending", 0)
    assert covered["succeeded"] >= 5
    assert workspace.count_stages("pdf") == {"succeeded": covered["succeeded"]}
    assert workspace.count("artifacts") == 2 * covered["succeeded"]
    steps = workspace.query("SELECT kind FROM pipeline_step_projections WHERE state = 'succeeded'")
    assert Counter(kind for (kind,) in steps) == {
        "source_planning": 1,
        "source_family": 1,
        "enrichment_pass": 1,
        "preparation_fanout": 1,
        "pdf_render": covered["succeeded"],
    }
    assert set(workspace.query("SELECT status FROM workflow_run_projections")) == {("succeeded",)}
    assert workspace.query("SELECT status, progress_done - progress_total FROM discovery_runs") == [("succeeded", 0)]


def check_second_run(workspace: Workspace, first: str) -> None:
    """It sees every posting again and does nothing twice."""
    jobs = workspace.count("jobs")
    preparations = list_preparations(workspace, first)
    done_once = {kind: workspace.count_events(kind) for kind in DONE_ONCE}

    second = start_twice_at_once(workspace)
    assert workspace.wait_for_run(second) == "succeeded"

    assert second != first
    assert workspace.count("jobs") == jobs
    assert set(workspace.query("SELECT times_seen FROM job_source_observations")) == {(2,)}
    assert workspace.count("job_source_observations", "last_run_id = %s", second) == jobs
    assert {kind: workspace.count_events(kind) for kind in DONE_ONCE} == done_once
    assert workspace.count("workflow_run_projections") == 2 + len(preparations)
    assert list_preparations(workspace, second) == preparations
    workspace.assert_nothing_twice()


START_TWICE = """
from concurrent.futures import ThreadPoolExecutor
from discovery.services.starts import start_discovery
with ThreadPoolExecutor(2) as threads:
    for started in threads.map(lambda _: start_discovery(), range(2)):
        print(started.workflow_id, started.run_id, started.existing)
"""


def start_twice_at_once(workspace: Workspace) -> str:
    """Two requests get one run, and one of them is told that it was there already."""
    answers = [line.split() for line in workspace.run_python(START_TWICE).splitlines()]
    assert len({(workflow_id, run_id) for workflow_id, run_id, _ in answers}) == 1
    assert sorted(existing for *_, existing in answers) == ["False", "True"]
    run_id = answers[0][1]
    started = [
        payload["phase"] for _, payload in workspace.list_events("WorkflowStarted") if payload["runId"] == run_id
    ]
    assert sorted(set(started)) == sorted(started)
    return run_id


def list_preparations(workspace: Workspace, run_id: str) -> set[str]:
    """The workflow ids that one discovery planned."""
    rows = workspace.query("SELECT preparation_workflow_id FROM discovery_execution_jobs WHERE run_id = %s", run_id)
    return {row[0] for row in rows if row[0]}
