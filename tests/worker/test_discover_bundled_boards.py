"""The main job from the bundled boards to the documents: asked for twice at once, and again afterwards."""

from collections import Counter

import pytest

from tests.worker.workspace import SAMPLE_PROFILE, Workspace

pytestmark = [pytest.mark.worker, pytest.mark.browser]

DONE_ONCE = ("JobDiscovered", "JobEnriched", "JobScored", "ResumeApproved", "CoverLetterGenerated", "PdfRendered")


def test_it_takes_every_posting_to_its_documents_and_a_second_run_adds_nothing(workspace: Workspace) -> None:
    workspace.run("import_profile", str(SAMPLE_PROFILE))
    workspace.run("add_source", "bundled")
    workspace.start_worker()

    first = start_twice_at_once(workspace)
    assert workspace.wait_for_run(first) == "succeeded"

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
    preparations = list_preparations(workspace, first)
    done_once = {kind: workspace.count_events(kind) for kind in DONE_ONCE}

    second = workspace.start_discovery()
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
