"""One job through one stage's activity, while another run works on the same job."""

from collections.abc import Callable

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from operations.activities import score_job
from operations.contracts import StageJobInput, StageName, StageReport, StageState
from operations.errors import TransientStageFailure
from operations.models import JobStageState
from operations.stage_engine import publish_stage
from operations.stopping import is_canceled_by_operator
from operations.workspace import ensure_workspace
from tests.operations.cast import PROFILE_VERSION, SECOND_RUN, Cast, ScriptedStage, claim

ENRICH, SCORE = StageName.ENRICH, StageName.SCORE


def score(cast: Cast) -> StageReport:
    given = StageJobInput(str(cast.backend), PROFILE_VERSION, ensure_workspace().identity)
    report = ActivityEnvironment().run(score_job, given)
    assert isinstance(report, StageReport)
    return report


def test_it_waits_for_the_other_run_and_takes_its_result(
    cast: Cast, stages: dict[StageName, ScriptedStage], assert_rebuild_matches: Callable[[], None]
) -> None:
    publish_stage(claim(cast.backend, ENRICH, SECOND_RUN), "result")
    other = claim(cast.backend, SCORE, SECOND_RUN)
    with pytest.raises(ApplicationError, match="Another run") as refused:
        score(cast)
    assert (refused.value.type, refused.value.non_retryable) == ("OWNED_BY_OTHER_RUN", False)

    publish_stage(other, "result")
    report = score(cast)

    assert (report.state, report.reused) == (StageState.SUCCEEDED, True)
    assert stages[SCORE].runs == []
    assert_rebuild_matches()


def test_a_step_that_failed_or_ran_out_of_attempts_fails_its_preparation(
    cast: Cast, stages: dict[StageName, ScriptedStage]
) -> None:
    publish_stage(claim(cast.backend, ENRICH, SECOND_RUN), "result")
    stages[SCORE].max_attempts = 2
    stages[SCORE].script = [TransientStageFailure("busy", code="SOURCE_UNAVAILABLE") for _ in range(2)]

    with pytest.raises(ApplicationError) as first:
        score(cast)
    with pytest.raises(ApplicationError) as last:
        score(cast)

    assert (first.value.type, first.value.non_retryable) == ("SOURCE_UNAVAILABLE", False)
    assert (last.value.type, last.value.non_retryable) == ("SOURCE_UNAVAILABLE", True)
    assert JobStageState.objects.get(job_id=cast.backend, stage=SCORE).state == StageState.EXHAUSTED


@pytest.mark.parametrize(
    ("details", "by_operator"),
    [
        (ActivityCancellationDetails(cancel_requested=True), True),
        (ActivityCancellationDetails(not_found=True), False),
        (ActivityCancellationDetails(worker_shutdown=True), False),
        (ActivityCancellationDetails(timed_out=True), False),
    ],
)
def test_only_a_request_to_stop_is_one(details: ActivityCancellationDetails, by_operator: bool) -> None:
    """A Temporal that has lost the run, or a worker that shuts down, ends the attempt and cancels nothing."""
    environment = ActivityEnvironment()
    environment.cancel(cancellation_details=details)

    assert environment.run(is_canceled_by_operator) is by_operator
