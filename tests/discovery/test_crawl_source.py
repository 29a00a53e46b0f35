import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pytest_django import Settings

from discovery.board_words import describe_failure
from discovery.gateway import FetchCancelled
from discovery.models import DiscoveryRunSource, Job, SourceRegistryEntry
from discovery.services.runs import (
    SourceFailure,
    crawl_source,
    find_error_type,
    list_failures,
    list_open_sources,
    plan_run,
    sum_family_counts,
)
from discovery.services.sources import register_bundled_sources, register_source
from operations.models import OperationalAttemptMetric
from operations.settings_store import change_settings
from tests.boardserver import (
    BoardServer,
    Reply,
    reply_big,
    reply_cut_off,
    reply_gzip,
    reply_html,
    reply_json,
    reply_redirect,
    reply_status,
    reply_truncated,
)
from tests.discovery.cast import FIRST_RUN, SECOND_RUN, list_events, require_shared

pytestmark = pytest.mark.django_db

Check = Callable[[], None]
GREENHOUSE = "/v1/boards/{}/jobs"
LEVER = "/v0/postings/{}"
ASHBY = "/posting-api/job-board/{}"


@pytest.fixture
def board_server(settings: Settings) -> Iterator[BoardServer]:
    with BoardServer() as server:
        settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [server.host_port]
        yield server


@dataclass(frozen=True, slots=True)
class Fernhill:
    """A Greenhouse board on loopback that is part of the first run."""

    server: BoardServer
    source_id: str

    def answer(self, *replies: Reply) -> None:
        self.server.set_route(GREENHOUSE.format("fernhill"), *replies)

    def crawl(self, *, attempt: int = 1) -> SourceFailure | None:
        return crawl_source(FIRST_RUN, self.source_id, attempt=attempt, is_cancelled=lambda: False)


@pytest.fixture
def fernhill(db: None, board_server: BoardServer) -> Fernhill:
    source_id = register_source("greenhouse", "fernhill", base_url=board_server.url)
    plan_run(FIRST_RUN)
    return Fernhill(board_server, source_id)


def make_row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "title": f"Engineer {number}",
        "absolute_url": f"https://boards.example.com/fernhill/jobs/{number}",
        "location": {"name": "Leeds"},
        "content": "&lt;p&gt;Build things.&lt;/p&gt;",
        **changes,
    }


@pytest.mark.parametrize(
    ("kind", "path", "name", "board", "expected"),
    [
        ("greenhouse", GREENHOUSE, "greenhouse/amplitude-content.json", "amplitude", {"new": 2, "skipped": 0}),
        ("greenhouse", GREENHOUSE, "greenhouse/gong-list.json", "gongio", {"new": 3, "skipped": 0}),
        ("lever", LEVER, "lever/palantir.json", "palantir", {"new": 2, "skipped": 0}),
        ("ashby", ASHBY, "ashby/wealth-com.json", "wealth-com", {"new": 4, "skipped": 1, "skipped_unlisted": 1}),
    ],
)
def test_it_accepts_what_a_real_board_answers(
    kind: str,
    path: str,
    name: str,
    board: str,
    expected: dict[str, int],
    board_server: BoardServer,
    assert_rebuild_matches: Check,
) -> None:
    board_server.set_route(path.format(board), Reply(body=require_shared(name).read_bytes()))
    source_id = register_source(kind, board, base_url=board_server.url)
    for ref in (FIRST_RUN, SECOND_RUN):
        plan_run(ref)

    failure = crawl_source(FIRST_RUN, source_id, attempt=1, is_cancelled=lambda: False)
    crawl_source(SECOND_RUN, source_id, attempt=1, is_cancelled=lambda: False)

    assert failure is None
    first, second = DiscoveryRunSource.objects.order_by("run_id")
    assert first.state == "succeeded"
    assert {key: first.counts[key] for key in expected} == expected
    assert (second.counts["new"], second.counts["existing"]) == (0, expected["new"])
    assert Job.objects.filter(kind=kind, board=board).count() == expected["new"]
    assert SourceRegistryEntry.objects.get().state == "succeeded"
    assert len(list_events("SourceStateChanged")) == 1
    metric = OperationalAttemptMetric.objects.order_by("id")[0]
    assert (metric.stage, metric.attempt_kind, metric.outcome) == ("discover", "source", "succeeded")
    assert (metric.source_id, metric.adapter, metric.run_id) == (source_id, kind, FIRST_RUN.run_id)
    assert_rebuild_matches()


def test_it_asks_the_board_once_and_by_its_own_name(fernhill: Fernhill, assert_rebuild_matches: Check) -> None:
    fernhill.answer(reply_gzip(json.dumps({"jobs": [make_row(1)]}).encode()))

    assert fernhill.crawl() is None

    [request] = fernhill.server.requests
    assert request.path == "/v1/boards/fernhill/jobs?content=true"
    assert "jobctrl" in request.headers["user-agent"]
    assert Job.objects.get().source_description == "Build things."
    assert_rebuild_matches()


GOOD = {"jobs": [make_row(1)]}
FAILURES: list[tuple[str, Reply, str, str, bool]] = [
    ("no such board", reply_status(404), "NOT_FOUND", "missing_input", False),
    ("gone", reply_status(410), "NOT_FOUND", "missing_input", False),
    ("unauthorised", reply_status(401), "ACCESS_DENIED", "authentication", False),
    ("forbidden", reply_status(403), "ACCESS_DENIED", "authentication", False),
    ("too many requests", reply_status(429, retry_after="60"), "RATE_LIMITED", "source_unavailable", True),
    ("broken", reply_status(500), "SOURCE_UNAVAILABLE", "source_unavailable", True),
    ("maintenance", reply_status(503), "SOURCE_UNAVAILABLE", "source_unavailable", True),
    ("a page", reply_html("<html><body>Maintenance</body></html>"), "HTML_INSTEAD_OF_JSON", "source_unavailable", True),
    ("nothing", Reply(), "EMPTY_BODY", "source_unavailable", True),
    ("half of it", reply_truncated(GOOD), "TRUNCATED_JSON", "source_unavailable", True),
    ("a lost connection", reply_cut_off(GOOD), "CONNECTION_LOST", "transient_network", True),
    ("no JSON", Reply(body=b"{]}"), "INVALID_JSON", "missing_input", False),
    ("too much", reply_big(9_000_000), "BODY_TOO_LARGE", "missing_input", False),
    ("a private redirect", reply_redirect("http://169.254.169.254/"), "DETAIL_UNSAFE_URL", "configuration", False),
    ("another shape", reply_json({"postings": []}), "MALFORMED_BOARD", "source_unavailable", False),
    ("a list", reply_json([]), "MALFORMED_BOARD", "source_unavailable", False),
]


@pytest.mark.parametrize(
    ("reply", "code", "error_type", "retryable"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES]
)
def test_it_types_a_bad_answer_and_records_it(
    reply: Reply, code: str, error_type: str, retryable: bool, fernhill: Fernhill, assert_rebuild_matches: Check
) -> None:
    fernhill.answer(reply)

    failure, again = fernhill.crawl(), fernhill.crawl(attempt=2)

    assert failure is not None and again is not None
    assert (failure.code, failure.error_type, failure.retryable) == (code, error_type, retryable)
    assert retryable or find_error_type(code) == error_type
    result = DiscoveryRunSource.objects.get()
    assert (result.state, result.error_code, result.retryable) == ("failed", code, retryable)
    entry = SourceRegistryEntry.objects.get()
    assert (entry.state, entry.error_code) == ("failed", code)
    [change] = list_events("SourceStateChanged")
    assert (change["fromState"], change["toState"], change["errorCode"]) == ("new", "failed", code)
    metrics = list(OperationalAttemptMetric.objects.order_by("id"))
    assert [(metric.attempt, metric.outcome, metric.error_class) for metric in metrics] == [
        (1, "failed", code),
        (2, "failed", code),
    ]
    assert 0 < len(metrics[0].error_message) <= 300
    assert list_open_sources(FIRST_RUN, "ats") == ([fernhill.source_id] if retryable else [])
    assert list_failures(FIRST_RUN, "ats") == [(fernhill.source_id, code)]
    assert not Job.objects.exists()
    assert_rebuild_matches()


def test_it_recovers_by_itself_once_the_board_answers(fernhill: Fernhill, assert_rebuild_matches: Check) -> None:
    fernhill.answer(reply_status(503), reply_json(GOOD))

    assert fernhill.crawl() is not None
    assert fernhill.crawl(attempt=2) is None

    assert list_open_sources(FIRST_RUN, "ats") == []
    assert list_failures(FIRST_RUN, "ats") == []
    changes = [(event["toState"], event["errorCode"]) for event in list_events("SourceStateChanged")]
    assert changes == [("failed", "SOURCE_UNAVAILABLE"), ("succeeded", "")]
    assert sum_family_counts(FIRST_RUN, "ats")["sources_succeeded"] == 1
    assert_rebuild_matches()


def test_it_closes_no_job_because_the_board_failed(fernhill: Fernhill, assert_rebuild_matches: Check) -> None:
    fernhill.answer(reply_json(GOOD), reply_status(500), reply_json({"jobs": []}))

    for attempt in (1, 2, 3):
        fernhill.crawl(attempt=attempt)

    assert Job.objects.get().active_state == "active"
    assert_rebuild_matches()


def test_it_refuses_a_private_board_that_the_operator_did_not_allow(
    fernhill: Fernhill, settings: Settings, assert_rebuild_matches: Check
) -> None:
    settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = []
    fernhill.answer(reply_json(GOOD))

    failure = fernhill.crawl()

    assert failure is not None
    assert (failure.code, failure.retryable) == ("DETAIL_UNSAFE_URL", False)
    assert fernhill.server.connections == 0
    assert_rebuild_matches()


def test_it_counts_what_it_skips_and_keeps_the_rest(fernhill: Fernhill, assert_rebuild_matches: Check) -> None:
    rows = [make_row(1), "no object", make_row(2, title=""), make_row(3, id="R" * 150), make_row(4), make_row(4)]
    fernhill.answer(reply_json({"jobs": rows}))

    assert fernhill.crawl() is None

    counts = DiscoveryRunSource.objects.get().counts
    assert (counts["postings"], counts["new"], counts["skipped"]) == (3, 2, 4)
    assert counts["skipped_over_long"] == counts["skipped_not_an_object"] == counts["skipped_repeated_id"] == 1
    assert set(Job.objects.values_list("external_id", flat=True)) == {"1", "4"}
    assert_rebuild_matches()


def test_it_takes_no_more_than_the_limit_and_says_what_it_left(
    fernhill: Fernhill, assert_rebuild_matches: Check
) -> None:
    change_settings({"results_per_board": 5}, actor="test")
    fernhill.answer(reply_json({"jobs": [make_row(number) for number in range(12)]}))

    fernhill.crawl()

    counts = DiscoveryRunSource.objects.get().counts
    assert (counts["postings"], counts["new"], counts["beyondLimit"]) == (12, 5, 7)
    assert Job.objects.count() == 5
    assert_rebuild_matches()


def test_it_leaves_a_source_unread_when_the_run_is_canceled(fernhill: Fernhill, assert_rebuild_matches: Check) -> None:
    fernhill.answer(reply_json(GOOD))

    with pytest.raises(FetchCancelled):
        crawl_source(FIRST_RUN, fernhill.source_id, attempt=1, is_cancelled=lambda: True)

    assert DiscoveryRunSource.objects.get().state == "pending"
    assert list_events("SourceStateChanged") == []
    assert not OperationalAttemptMetric.objects.exists()
    assert_rebuild_matches()


def test_it_reads_every_bundled_board(assert_rebuild_matches: Check) -> None:
    added = register_bundled_sources()
    plan_run(FIRST_RUN)

    failures = [crawl_source(FIRST_RUN, name, attempt=1, is_cancelled=lambda: False) for name in added]

    assert failures == [None] * len(added)
    totals = sum_family_counts(FIRST_RUN, "bundled")
    assert totals["sources_succeeded"] == len(added)
    assert totals["new"] == Job.objects.count() >= 26
    assert_rebuild_matches()


def test_it_fails_a_bundled_board_that_no_longer_ships(assert_rebuild_matches: Check) -> None:
    added = register_bundled_sources()
    SourceRegistryEntry.objects.filter(id=added[0]).update(board="no-such-board")
    plan_run(FIRST_RUN)

    failure = crawl_source(FIRST_RUN, added[0], attempt=1, is_cancelled=lambda: False)

    assert failure is not None
    assert (failure.code, failure.retryable) == ("MALFORMED_BOARD", False)
    assert crawl_source(FIRST_RUN, added[1], attempt=1, is_cancelled=lambda: False) is None
    assert_rebuild_matches()


def test_an_answer_that_breaks_our_own_reader_fails_its_board_alone(
    fernhill: Fernhill, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Else the other boards of its family would never be read, at any attempt."""

    def break_off(*_given: Any, **_named: Any) -> Any:
        raise KeyError("the posting's text")

    monkeypatch.setattr("discovery.services.runs.record_postings", break_off)
    fernhill.answer(reply_json(GOOD))

    failure = fernhill.crawl()

    assert failure is not None
    assert (failure.code, failure.error_type, failure.retryable) == ("INTERNAL_ERROR", "source_unavailable", False)
    assert "KeyError" in failure.message and "posting's text" not in failure.message + caplog.text
    row = DiscoveryRunSource.objects.get(source_id=fernhill.source_id)
    assert (row.state, row.error_code, row.retryable) == ("failed", "INTERNAL_ERROR", False)
    assert describe_failure("INTERNAL_ERROR").word.startswith("Failed: our own reader")
