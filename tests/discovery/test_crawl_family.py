"""The activity around crawl_source, without a Temporal server."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from pytest_django import Settings
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from discovery.activities import crawl_source_family
from discovery.contracts import FamilyInput, FamilyReport
from discovery.models import DiscoveryRun, Job
from discovery.services.runs import plan_run
from discovery.services.sources import register_source
from operations.errors import WorkspaceMismatch
from operations.models import PipelineStepProjection
from operations.workspace import ensure_workspace
from tests.boardserver import BoardServer, reply_json, reply_status
from tests.discovery.cast import FIRST_RUN, list_events

pytestmark = pytest.mark.django_db

Check = Callable[[], None]
LEVER = "/v0/postings/{}"


@pytest.fixture
def boards(db: None, settings: Settings) -> Iterator[BoardServer]:
    """Three Lever boards, of which all answer unless a test says otherwise."""
    with BoardServer() as server:
        settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [server.host_port]
        for board in ("anchor", "beacon", "cutter"):
            register_source("lever", board, base_url=server.url)
            server.set_route(LEVER.format(board), reply_json([make_row(board)]))
        plan_run(FIRST_RUN)
        yield server


def make_row(board: str) -> dict[str, object]:
    return {
        "id": f"{board}-1",
        "text": "Deckhand",
        "hostedUrl": f"https://jobs.example.com/{board}/1",
        "descriptionPlain": "Keep the deck clear. " * 20,
    }


def crawl(*, attempt: int = 1, identity: str = "") -> FamilyReport:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=attempt)
    given = FamilyInput(FIRST_RUN, "ats", identity or ensure_workspace().identity)
    return environment.run(crawl_source_family, given)


def fail_crawl(*, attempt: int = 1) -> ApplicationError:
    with pytest.raises(ApplicationError) as failed:
        crawl(attempt=attempt)
    return failed.value


def read_step() -> tuple[str, str, int]:
    step = PipelineStepProjection.objects.get(kind="source_family", item_key="ats")
    return step.state, step.error_code, step.attempt


def test_it_reads_every_source_of_the_family(boards: BoardServer, assert_rebuild_matches: Check) -> None:
    report = crawl()

    assert (report.family, report.counts["new"], report.counts["sources_succeeded"]) == ("ats", 3, 3)
    assert Job.objects.count() == 3
    assert read_step() == ("succeeded", "", 1)
    assert DiscoveryRun.objects.get().progress_done == 1
    assert_rebuild_matches()


def test_it_reads_the_others_when_one_fails_and_only_that_one_again(
    boards: BoardServer, assert_rebuild_matches: Check
) -> None:
    boards.fail_first(LEVER.format("beacon"), 1, failure=reply_status(503), success=reply_json([make_row("beacon")]))

    failure = fail_crawl()

    assert (failure.type, failure.non_retryable) == ("source_unavailable", False)
    assert failure.message.startswith("lever:beacon: ")
    assert Job.objects.count() == 2
    assert read_step() == ("failed", "source_unavailable", 1)

    report = crawl(attempt=2)

    assert report.counts["new"] == 3
    assert read_step() == ("succeeded", "", 2)
    assert [boards.count_requests(LEVER.format(board)) for board in ("anchor", "beacon", "cutter")] == [1, 2, 1]
    assert len(list_events("SourceStateChanged")) == 4
    assert_rebuild_matches()


def test_it_ends_for_good_where_no_retry_helps(boards: BoardServer, assert_rebuild_matches: Check) -> None:
    boards.set_route(LEVER.format("anchor"), reply_status(404))

    failure = fail_crawl()

    assert (failure.type, failure.non_retryable) == ("missing_input", True)
    assert Job.objects.count() == 2
    assert_rebuild_matches()


def test_it_retries_what_may_pass_before_it_reports_what_will_not(
    boards: BoardServer, assert_rebuild_matches: Check
) -> None:
    boards.set_route(LEVER.format("anchor"), reply_status(403))
    boards.fail_first(LEVER.format("cutter"), 1, failure=reply_status(429), success=reply_json([make_row("cutter")]))

    first, second = fail_crawl(), fail_crawl(attempt=2)

    assert (first.type, first.non_retryable) == ("source_unavailable", False)
    assert (second.type, second.non_retryable) == ("authentication", True)
    assert boards.count_requests(LEVER.format("anchor")) == 1
    assert Job.objects.count() == 2
    assert_rebuild_matches()


def test_it_adopts_no_work_of_another_workspace(boards: BoardServer, assert_rebuild_matches: Check) -> None:
    with pytest.raises(WorkspaceMismatch):
        crawl(identity="0" * 64)

    assert boards.requests == []
    assert_rebuild_matches()
