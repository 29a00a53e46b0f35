"""How a job's work may fail: typed, unexpected, once too often; and what is never written down."""

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from operations.contracts import StageName
from operations.errors import MissingInput, NotConfigured, StageFailure, TransientStageFailure
from operations.models import JobDetailProjection, JobEventRow, JobStageState, OperationalAttemptMetric
from operations.stage_engine import StageContext
from operations.stage_engine.rows import compute_cooldown
from operations.stage_engine.work import work_job
from tests.operations.cast import CANDIDATE, FIRST_RUN, PROFILE_VERSION, Cast, ScriptedStage, get_row, list_types

ENRICH = StageName.ENRICH
Stages = dict[StageName, ScriptedStage]
CONTEXT = StageContext(FIRST_RUN, PROFILE_VERSION)


def test_it_succeeds_and_says_done_when_asked_again(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    first = work_job(cast.backend, ENRICH, CONTEXT).report
    again = work_job(cast.backend, ENRICH, CONTEXT).report
    assert (first.state, first.reused, again.state, again.reused) == ("succeeded", False, "succeeded", True)
    assert len(stages[ENRICH].runs) == 1
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("failure", "code", "message", "retryable"),
    [
        (StageFailure("No text.", code="NO_CONTENT"), "NO_CONTENT", "No text.", False),
        (TransientStageFailure("Busy.", code="HTTP_503"), "HTTP_503", "Busy.", True),
        (TransientStageFailure(), "transient_network", TransientStageFailure.__doc__, True),
        (
            MissingInput("Profile version 3 does not exist."),
            "missing_input",
            "Profile version 3 does not exist.",
            False,
        ),
        (NotConfigured("No key."), "configuration", "No key.", False),
    ],
)
def test_it_fails_with_the_code_and_retryability_of_the_failure(
    failure: Exception,
    code: str,
    message: str,
    retryable: bool,
    cast: Cast,
    stages: Stages,
    assert_rebuild_matches: Callable[[], None],
) -> None:
    stages[ENRICH].script = [failure]
    ended = work_job(cast.backend, ENRICH, CONTEXT)
    row = get_row(cast.backend, ENRICH)
    assert (ended.report.state, ended.report.code, ended.retryable) == ("failed", code, retryable)
    assert (row.state, row.error_code, row.error_message, row.retryable) == ("failed", code, message, retryable)
    assert (row.next_attempt_at is not None) == retryable
    event = JobEventRow.objects.get(event_type="StageFailed")
    assert (event.payload["errorCode"], event.payload["retryable"]) == (code, retryable)
    metric = OperationalAttemptMetric.objects.get()
    assert (metric.outcome, metric.error_class, metric.error_message) == ("failed", code, message)
    assert_rebuild_matches()


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
def test_it_writes_no_text_of_an_unexpected_exception_anywhere(
    level: int,
    cast: Cast,
    stages: Stages,
    caplog: pytest.LogCaptureFixture,
    assert_rebuild_matches: Callable[[], None],
) -> None:
    stages[ENRICH].script = [ValueError(f"invalid line: {CANDIDATE}, 12 Canary Street")]
    with caplog.at_level(level):
        ended = work_job(cast.backend, ENRICH, CONTEXT)
    assert ("_run_and_settle" in caplog.text) is (level == logging.DEBUG)
    assert (ended.report.state, ended.report.code, ended.retryable) == ("failed", "INTERNAL_ERROR", True)
    assert "ValueError" in ended.message
    written = [
        *JobEventRow.objects.values_list("payload", flat=True),
        *OperationalAttemptMetric.objects.values_list("error_class", "error_message", "counts"),
        *JobStageState.objects.values_list("error_code", "error_message", "reason_code"),
        *JobDetailProjection.objects.values_list("stages_json", flat=True),
        ended,
        caplog.text,
    ]
    assert "INTERNAL_ERROR" in str(written)
    for canary in (CANDIDATE, "Canary", "invalid line"):
        assert canary not in str(written)
    assert_rebuild_matches()


def test_it_exhausts_the_row_with_the_last_attempt_and_never_runs_again(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    stages[ENRICH].max_attempts = 3  # type: ignore[misc]
    stages[ENRICH].script = [TransientStageFailure("Busy.", code="HTTP_503") for _ in range(4)]
    ends = [work_job(cast.backend, ENRICH, replace(CONTEXT, owner=replace(FIRST_RUN, attempt=n))) for n in range(1, 6)]

    assert [end.report.state for end in ends] == ["failed", "failed", *["exhausted"] * 3]
    assert [end.retryable for end in ends] == [True, True, False, False, False]
    assert [given.attempt for given in stages[ENRICH].runs] == [1, 2, 3]
    row = get_row(cast.backend, ENRICH)
    assert (row.state, row.attempts, row.error_code, row.retryable) == ("exhausted", 3, "HTTP_503", False)
    types = list_types(job_id=cast.backend)
    assert types.count("StageFailed") == 2 and types.count("StageExhausted") == 1
    assert [m.outcome for m in OperationalAttemptMetric.objects.order_by("id")] == ["failed", "failed", "exhausted"]
    assert_rebuild_matches()


def test_it_blocks_each_dependent_once_however_often_the_cause_fails(
    cast: Cast, stages: Stages, assert_rebuild_matches: Callable[[], None]
) -> None:
    stages[ENRICH].script = [TransientStageFailure("Busy.", code="HTTP_503"), TransientStageFailure("Busy.")]
    for attempt in (1, 2):
        work_job(cast.backend, ENRICH, replace(CONTEXT, owner=replace(FIRST_RUN, attempt=attempt)))
    assert list_types(job_id=cast.backend).count("StageBlocked") == 4
    assert get_row(cast.backend, StageName.APPLY).reason_code == "UPSTREAM_FAILED"

    work_job(cast.backend, ENRICH, replace(CONTEXT, owner=replace(FIRST_RUN, attempt=3)))
    states = JobStageState.objects.filter(job_id=cast.backend).values_list("stage", "state")
    assert dict(states) == {"enrich": "succeeded", **dict.fromkeys(("score", "tailor", "cover", "apply"), "pending")}
    assert_rebuild_matches()


def test_it_does_not_touch_the_peers_of_a_job_that_failed(cast: Cast, stages: Stages) -> None:
    stages[ENRICH].script = [StageFailure("No text.", code="NO_CONTENT")]
    ends = [work_job(job_id, ENRICH, CONTEXT).report.state for job_id in cast]
    assert ends == ["failed", "succeeded", "succeeded", "succeeded"]


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 60), (1, 120), (2, 240), (4, 960), (5, 1800), (40, 1800)])
def test_it_waits_longer_after_each_failure_up_to_half_an_hour(attempts: int, seconds: int) -> None:
    assert compute_cooldown(attempts).total_seconds() == seconds
