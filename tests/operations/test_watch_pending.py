"""What open runs have pending, as lately seen: replaced at each pass, gone with the run, never believed when old."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from temporalio.api.enums.v1 import PendingActivityState, TimeoutType
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import ApplicationError

from operations import queries
from operations.contracts import RunStatus, WorkflowOutcome, WorkflowStart
from operations.models import PendingActivity
from operations.queries import OpenRun
from operations.services.describing import Found, describe_runs
from operations.services.pending import MOST_ACTIVITIES, SeenActivity, read_pending, record_pending
from operations.services.runs import record_not_found, record_outcome, record_started
from tests.operations.workflow_runs import INPUTS, Stubs, serving
from tests.operations.workflow_runs import start as start_workflow
from tests.temporal import TemporalServer

CRAWL = SeenActivity("crawl_source_family", 2, 3, "waiting", "source_unavailable", datetime(2026, 11, 29, tzinfo=UTC))
ENRICH = SeenActivity("enrich_jobs", 1, 3, "running")


def start(run_id: str) -> None:
    record_started(WorkflowStart("discover-local", run_id, "DiscoverWorkflow", {}))


def list_seen(run_id: str) -> list[tuple[str, int]]:
    return [(row.activity_type, row.attempt) for row in queries.list_pending([run_id])]


@pytest.mark.django_db
def test_each_pass_replaces_what_the_one_before_saw() -> None:
    start("r-1")
    now = timezone.now()
    record_pending({"r-1": [CRAWL, ENRICH]}, observed_at=now)
    assert list_seen("r-1") == [("crawl_source_family", 2), ("enrich_jobs", 1)]
    assert queries.list_retrying_runs() == ["r-1"]

    record_pending({"r-1": [ENRICH]}, observed_at=now + timedelta(seconds=1))
    assert list_seen("r-1") == [("enrich_jobs", 1)]
    assert queries.list_retrying_runs() == []


@pytest.mark.django_db
def test_an_older_look_of_another_worker_changes_nothing() -> None:
    start("r-1")
    now = timezone.now()
    record_pending({"r-1": [ENRICH]}, observed_at=now)
    record_pending({"r-1": [CRAWL]}, observed_at=now - timedelta(seconds=5))
    assert list_seen("r-1") == [("enrich_jobs", 1)]


@pytest.mark.django_db
def test_nothing_is_pending_once_a_run_has_ended_or_is_not_found() -> None:
    for run_id in ("ended", "lost"):
        start(run_id)
    record_pending({"ended": [CRAWL], "lost": [CRAWL]}, observed_at=timezone.now())
    record_outcome(WorkflowOutcome("discover-local", "ended", "DiscoverWorkflow", RunStatus.FAILED, "internal"))
    record_not_found("lost", "discover-local", "DiscoverWorkflow", episode=1)
    assert not PendingActivity.objects.exists()

    record_pending({"ended": [CRAWL]}, observed_at=timezone.now())
    assert not PendingActivity.objects.exists(), "it ended while Temporal was being asked"


@pytest.mark.django_db
def test_an_old_observation_is_not_told_as_so() -> None:
    start("r-1")
    record_pending({"r-1": [CRAWL]}, observed_at=timezone.now() - timedelta(seconds=46))
    assert [row.is_fresh for row in queries.list_pending(["r-1"])] == [False]
    assert queries.list_retrying_runs() == []


def test_it_keeps_the_type_of_a_failure_and_never_its_text() -> None:
    info = build_info(attempt=2)
    info.last_failure.message = "Dear Mara, your salary of 5,000"
    info.last_failure.application_failure_info.type = "source_unavailable"
    assert read_pending([info])[0].error_code == "source_unavailable"
    info.last_failure.application_failure_info.type = "Dear Mara, your salary"
    assert read_pending([info])[0].error_code == "internal"
    info.last_failure.timeout_failure_info.timeout_type = TimeoutType.TIMEOUT_TYPE_HEARTBEAT
    assert read_pending([info])[0].error_code == "worker_shutdown"
    info.last_failure.timeout_failure_info.timeout_type = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
    assert read_pending([info])[0].error_code == "activity_timeout"


def test_it_keeps_the_most_tried_of_very_many() -> None:
    seen = read_pending([build_info(attempt=attempt) for attempt in range(1, 200)])
    assert [activity.attempt for activity in seen] == list(range(199, 199 - MOST_ACTIVITIES, -1))


def build_info(*, attempt: int) -> PendingActivityInfo:
    info = PendingActivityInfo(attempt=attempt, maximum_attempts=3)
    info.activity_type.name = "crawl_source_family"
    info.state = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
    return info


# --- a real Temporal ---------------------------------------------------------------------------


class Failing(Stubs):
    """Its crawl fails and is tried again."""

    async def note(self, name: str) -> None:
        await super().note(name)
        if name == "crawl_source_family":
            raise ApplicationError("no", type="source_unavailable")


@pytest.mark.temporal
def test_a_real_temporal_says_what_is_tried_again(server: TemporalServer) -> None:
    async def look() -> tuple[Any, Any]:
        client = await Client.connect(server.address)
        stubs = Failing(parallel=1)
        async with serving(client, stubs):
            handle = await start_workflow(client, stubs, "DiscoverWorkflow", INPUTS["DiscoverWorkflow"], run="retrying")
            run = OpenRun(
                str(handle.first_execution_run_id), handle.id, "DiscoverWorkflow", provisional=False, episode=0
            )
            retrying = await describe_until_failed(client, run)
            await end(handle)
            return retrying, (await describe_runs(client, [run]))[0]

    retrying, ended = asyncio.run(asyncio.wait_for(look(), 60))
    (activity,) = retrying.pending
    assert retrying.found is Found.RUNNING
    assert (activity.activity_type, activity.attempt, activity.maximum_attempts) == ("crawl_source_family", 2, 3)
    assert (activity.state, activity.error_code) == ("waiting", "source_unavailable")
    assert timedelta(0) < activity.next_attempt_at - timezone.now() + timedelta(seconds=30) < timedelta(seconds=60)
    assert (ended.found, ended.pending) == (Found.CLOSED, ())


async def describe_until_failed(client: Client, run: OpenRun) -> Any:
    while True:
        (found,) = await describe_runs(client, [run])
        if any(activity.error_code for activity in found.pending):
            return found
        await asyncio.sleep(0.05)


async def end(handle: WorkflowHandle[Any, Any]) -> None:
    await handle.terminate("seen enough")
