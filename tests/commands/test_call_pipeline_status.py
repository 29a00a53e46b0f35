import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from operations.models import WorkerRuntimeHeartbeat
from tests.commands.calling import call
from tests.discovery.cast import BACKEND, BERLIN, add_job, work

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


def beat(*, seconds_ago: float, stopped: bool = False) -> None:
    seen = timezone.now() - timedelta(seconds=seconds_ago)
    WorkerRuntimeHeartbeat.objects.create(
        worker_id=f"worker-{seconds_ago}",
        workspace_identity="w",
        task_queue="q",
        process_id=1,
        slots=4,
        started_at=seen,
        last_seen_at=seen,
        stopped_at=seen if stopped else None,
    )


def test_it_says_how_to_begin_where_there_is_nothing() -> None:
    printed = call("pipeline_status")

    assert "No jobs yet. Add a source with manage.py add_source" in printed.out
    assert printed.out.splitlines()[-1] == "worker   none is running"


def test_it_counts_every_stage_in_the_pipelines_order(assert_rebuild_matches: Check) -> None:
    for posting in (BACKEND, BERLIN, replace(BACKEND, external_id="R-3", description="", url="")):
        work(add_job(posting), "enrich")
    beat(seconds_ago=5)

    lines = call("pipeline_status").out.splitlines()

    assert lines[:5] == [
        "enrich   2 succeeded, 1 failed",
        "score    2 pending, 1 blocked",
        "tailor   2 pending, 1 blocked",
        "cover    2 pending, 1 blocked",
        "apply    2 pending, 1 blocked",
    ]
    assert lines[5].startswith("worker   last seen ")
    assert_rebuild_matches()


@pytest.mark.parametrize(("seconds_ago", "stopped", "alive"), [(5, False, True), (60, False, False), (5, True, False)])
def test_it_tells_the_same_as_one_json_line(
    seconds_ago: float, stopped: bool, alive: bool, assert_rebuild_matches: Check
) -> None:
    work(add_job(), "enrich")
    beat(seconds_ago=seconds_ago, stopped=stopped)

    body = json.loads(call("pipeline_status", "--json").out)

    assert body["stages"]["enrich"] == {"succeeded": 1}
    assert body["stages"]["score"] == {"pending": 1}
    assert (body["workerLastSeenAt"] is not None) == alive
    assert_rebuild_matches()
