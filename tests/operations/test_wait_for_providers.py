"""A provider that is busy for some seconds: a batch waits for it where it is, and brings its jobs to an end."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Timer
from time import monotonic

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.testing import ActivityEnvironment

from operations import batches, stopping
from operations.activities import enrich_jobs
from operations.contracts import BatchReport, StageBatchInput, StageName
from operations.errors import OperationsError
from operations.models import JobStageState, LlmAttempt
from operations.stage_engine import Claim
from operations.workspace import ensure_workspace
from tests.modelserver import Asked, ModelServer
from tests.modelwires import Answer, Refused
from tests.operations.asking import ask
from tests.operations.cast import PROFILE_VERSION, Cast, ScriptedStage, get_row

pytestmark = pytest.mark.usefixtures("one_connection")

ENRICH = StageName.ENRICH
Stages = dict[StageName, ScriptedStage]
Check = Callable[[], None]
GOOD = Answer({"score": 7})


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "LEAST_PAUSE", timedelta(milliseconds=20))
    monkeypatch.setattr(stopping, "LOOK_SECONDS", 0.02)


@pytest.fixture
def environment(cast: Cast, stages: Stages) -> ActivityEnvironment:
    """Of the first of three attempts of an activity over four jobs, each of which asks a model once."""
    stages[ENRICH].script = [ask_for] * 20
    environment = ActivityEnvironment()
    policy = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)
    environment.info = replace(
        environment.info, attempt=1, retry_policy=policy, start_to_close_timeout=timedelta(hours=1)
    )
    return environment


def ask_for(claim: Claim) -> str:
    ended = ask("openai")
    if isinstance(ended, OperationsError):
        raise ended
    return "result"


def enrich(environment: ActivityEnvironment, job_ids: tuple[str, ...] | None = None) -> BatchReport:
    given = StageBatchInput(PROFILE_VERSION, ensure_workspace().identity, job_ids)
    report = environment.run(enrich_jobs, given)
    assert isinstance(report, BatchReport)
    return report


def fail(environment: ActivityEnvironment, job_ids: tuple[str, ...] | None = None) -> ApplicationError:
    with pytest.raises(ApplicationError) as failed:
        enrich(environment, job_ids)
    return failed.value


def count_rows() -> Counter[tuple[str, int]]:
    return Counter(JobStageState.objects.filter(stage=ENRICH).values_list("state", "attempts"))


@pytest.mark.parametrize("chosen", [False, True], ids=["all", "chosen"])
@pytest.mark.parametrize("attempt", [1, 3])
def test_it_brings_all_to_an_end_at_a_provider_that_allows_a_few_at_a_time(
    attempt: int,
    chosen: bool,
    environment: ActivityEnvironment,
    cast: Cast,
    models: ModelServer,
    assert_rebuild_matches: Check,
) -> None:
    """Two requests in a second, then it is to be left alone for one."""
    windows: list[list[float]] = [[]]

    def allow_two(asked: Asked) -> Answer | Refused:
        if windows[-1] and monotonic() - windows[-1][0] >= 0.9:
            windows.append([])
        if len(windows[-1]) == 2:
            return Refused(429, retry_after="1")
        windows[-1].append(monotonic())
        return GOOD

    models.usual = allow_two
    environment.info = replace(environment.info, attempt=attempt)

    report = enrich(environment, tuple(map(str, cast)) if chosen else None)

    assert report.counts == {"succeeded": 4}
    assert [len(window) for window in windows] == [2, 2]
    assert count_rows() == {("succeeded", 1): 3, ("succeeded", 2): 1}
    assert_rebuild_matches()


def test_its_peers_come_first(
    environment: ActivityEnvironment, cast: Cast, stages: Stages, models: ModelServer
) -> None:
    models.script(Refused(429, retry_after="0"), GOOD, GOOD, GOOD, GOOD)
    assert enrich(environment).counts == {"succeeded": 4}
    assert [claim.job_id for claim in stages[ENRICH].runs] == [*cast, cast.backend]


def test_one_job_alone_is_tried_three_times_and_left_to_the_next_attempt(
    environment: ActivityEnvironment, cast: Cast, models: ModelServer
) -> None:
    models.usual = Refused(429, retry_after="0")
    failed = fail(environment, (str(cast.backend),))
    assert (failed.type, failed.non_retryable, failed.next_retry_delay) == ("transient_network", False, timedelta(0))
    assert (get_row(cast.backend, ENRICH).state, get_row(cast.backend, ENRICH).attempts) == ("failed", 3)


@pytest.mark.parametrize("attempt", [1, 3])
@pytest.mark.parametrize("chosen", [False, True], ids=["all", "chosen"])
def test_it_gives_up_where_pauses_lead_to_nothing(
    chosen: bool,
    attempt: int,
    environment: ActivityEnvironment,
    cast: Cast,
    models: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "MOST_FRUITLESS", 2)
    models.usual = Refused(429, retry_after="0")
    environment.info = replace(environment.info, attempt=attempt)
    failed = fail(environment, tuple(map(str, cast)) if chosen else None)
    assert len(models.requests) == LlmAttempt.objects.count() == 3
    assert count_rows() == {("failed", 1): 3, ("pending", 0): 1}
    if attempt == 1:
        assert (failed.non_retryable, failed.next_retry_delay) == (False, timedelta(0))
    else:
        assert (failed.non_retryable, failed.type) == (True, "llm_transient")
        assert failed.details == ({"failed": 3, "pending": 1},)


def test_it_waits_for_no_more_than_half_of_the_activitys_time(
    environment: ActivityEnvironment, cast: Cast, models: ModelServer
) -> None:
    models.usual = Refused(429, retry_after="30")
    environment.info = replace(environment.info, start_to_close_timeout=timedelta(seconds=50))
    began = monotonic()
    failed = fail(environment)
    assert monotonic() - began < 10
    assert (failed.non_retryable, failed.next_retry_delay) == (False, timedelta(seconds=30))
    assert count_rows() == {("failed", 1): 1, ("pending", 0): 3}


@pytest.mark.parametrize("canceled", [False, True], ids=["shut down", "canceled"])
def test_it_leaves_its_pause_at_once_where_it_must_stop(
    canceled: bool, environment: ActivityEnvironment, models: ModelServer
) -> None:
    def stop() -> None:
        if canceled:
            environment.cancel(cancellation_details=ActivityCancellationDetails(cancel_requested=True))
        else:
            environment.worker_shutdown()

    def refuse(asked: Asked) -> Refused:
        Timer(0.3, stop).start()
        return Refused(429, retry_after="30")

    models.usual = refuse
    began = monotonic()
    with pytest.raises(CancelledError if canceled else ApplicationError, match=r"canceled|next"):
        enrich(environment)
    assert monotonic() - began < 10
    assert count_rows() == {("failed", 1): 1, ("pending", 0): 3}
