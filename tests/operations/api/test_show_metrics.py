"""``GET /v1/metrics``: what a monitor reads, what it costs, and that it holds no ids."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries

from operations import monitoring
from operations.contracts import StageName, WorkflowStart
from operations.models import JobEventRow, LlmSpend, ProjectionWatermark, WorkerRuntimeHeartbeat
from operations.monitoring import render_metrics
from operations.services.runs import record_dispatched, record_not_found
from operations.stage_engine import Claim, claim_stage, publish_stage
from operations.streaming.channel_manager import EVENTS
from operations.streaming.resets import SLOW_CLIENT, note_reset
from tests.operations.api.conftest import Script, note_worker
from tests.operations.cast import FIRST_RUN, PROFILE_VERSION, Cast, ScriptedStage

pytestmark = pytest.mark.django_db

Sample = tuple[str, tuple[tuple[str, str], ...]]


def parse(text: str) -> dict[Sample, float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def read(script: Client) -> dict[Sample, float]:
    answer = script.get("/v1/metrics")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")
    return parse(answer.content.decode())


def stage_rows(stage: str, state: str) -> Sample:
    return "jobctrl_stage_rows", (("stage", stage), ("state", state))


def test_it_answers_a_token_or_a_session_and_nobody_else(script: Script, visitor: Client, client: Client) -> None:
    assert read(script).keys() == read(visitor).keys()
    assert client.get("/v1/metrics").status_code == 401


def test_it_counts_what_there_is(script: Script, cast: Cast, stages: dict[StageName, ScriptedStage]) -> None:
    claim = claim_stage(cast.backend, StageName.ENRICH, owner=FIRST_RUN, profile_version=PROFILE_VERSION)
    assert isinstance(claim, Claim)
    publish_stage(claim, "result")
    note_worker()
    WorkerRuntimeHeartbeat.objects.update(slots_busy=3)
    LlmSpend.objects.create(day=timezone.now().date(), lane="score", cost_usd="1.25")

    found = read(script)

    assert found[stage_rows("enrich", "succeeded")] == 1
    assert found[stage_rows("enrich", "pending")] == 3
    assert found[stage_rows("pdf", "exhausted")] == 0
    assert found["jobctrl_workers", ()] == 1
    assert found["jobctrl_worker_slots", ()] == 4
    assert found["jobctrl_worker_slots_busy", ()] == 3
    assert found["jobctrl_spend_today_usd", ()] == 1.25
    assert found["jobctrl_spend_ceiling_usd", ()] == 25
    assert found["jobctrl_events_head", ()] == JobEventRow.objects.order_by("-id").values_list("id", flat=True)[0]
    assert found["jobctrl_projections_live", (("app", "operations"),)] == 1
    assert found["jobctrl_projections_lag", (("app", "operations"),)] == 0
    assert found["jobctrl_stream_listeners", (("channel", "live"),)] == 0
    assert found["jobctrl_stream_lag", ()] == 0


def test_it_shows_what_waits_in_the_queue_where_temporal_says_so(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not [sample for sample in read(script) if sample[0] == "jobctrl_queue_backlog"]

    monkeypatch.setattr(monitoring, "read_backlog", lambda: {"workflow": 2, "activity": 7})
    found = read(script)

    assert found["jobctrl_queue_backlog", (("kind", "workflow"),)] == 2
    assert found["jobctrl_queue_backlog", (("kind", "activity"),)] == 7


def test_it_counts_the_clients_that_were_dropped(script: Script) -> None:
    dropped = "jobctrl_stream_resets_total", (("cause", "slow_client"), ("channel", "events"))
    before = read(script)[dropped]

    note_reset(EVENTS, SLOW_CLIENT)

    assert read(script)[dropped] == before + 1


def test_it_shows_what_went_wrong(script: Script, cast: Cast) -> None:
    note_worker(seconds_ago=60)
    head = JobEventRow.objects.order_by("-id").values_list("id", flat=True)[0]
    ProjectionWatermark.objects.filter(app="operations").update(state="failing", last_event_id=head - 2)

    found = read(script)

    assert found["jobctrl_workers", ()] == 0
    assert found["jobctrl_worker_slots", ()] == 0
    assert found["jobctrl_projections_live", (("app", "operations"),)] == 0
    assert found["jobctrl_projections_lag", (("app", "operations"),)] == 2


def test_it_tells_open_runs_from_assumed_ends(script: Script) -> None:
    for number in range(3):
        record_dispatched(WorkflowStart(f"prep-{number}", f"run-{number}", "JobPreparationWorkflow", {}))
    record_not_found("run-2", "prep-2", "JobPreparationWorkflow", episode=1)

    found = read(script)

    assert found["jobctrl_runs_open", ()] == 2
    assert found["jobctrl_runs_provisional", ()] == 1


def test_a_scrape_is_cheap_and_holds_no_ids(
    cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries, settings: Any
) -> None:
    note_worker()
    with django_assert_max_num_queries(8):
        text = render_metrics().decode()

    assert not any(str(job_id) in text for job_id in cast)
    labels = {name for _, given in parse(text) for name, _ in given}
    assert labels == {"stage", "state", "app", "channel", "cause"}
    assert len(parse(text)) < 120
    assert (timezone.now() - timedelta(days=1)).isoformat()[:10] not in text
