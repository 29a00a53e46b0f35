from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic

import pytest
from pytest_django import Settings

from operations.contracts import StageName
from operations.stage_engine import Owner, StageContext, work_job
from tests.boardserver import BoardServer, Reply, reply_hang, reply_html, reply_redirect, reply_status
from tests.discovery.cast import (
    BACKEND,
    PATH,
    READABLE,
    add_job,
    get_stage_row,
    list_events,
    on_page,
    read_log_head,
    read_snapshots,
    serving_pages,
    work,
)

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


@pytest.fixture
def pages(settings: Settings) -> Iterator[BoardServer]:
    with serving_pages(settings) as server:
        yield server


FAILURES: list[tuple[str, Reply, str, bool]] = [
    ("removed", reply_html("<h1>Not found</h1>", status=404), "NOT_FOUND", False),
    ("forbidden", reply_status(403), "ACCESS_DENIED", False),
    ("too many requests", reply_status(429, retry_after="30"), "RATE_LIMITED", True),
    ("maintenance", reply_status(503), "SOURCE_UNAVAILABLE", True),
    ("nothing to read", reply_html("<html><body><script>var a = 1;</script></body></html>"), "NO_CONTENT", False),
    ("a picture", Reply(body=b"\x89PNG\r\n" + bytes(range(256)) * 40, content_type="image/png"), "NOT_A_PAGE", False),
    (
        "a picture that says it is a page",
        Reply(body=bytes(range(256)) * 40, content_type="text/html"),
        "NOT_A_PAGE",
        False,
    ),
    ("a PDF of unnamed type", Reply(body=b"%PDF-1.7\n" + b"Python " * 200, content_type=""), "NOT_A_PAGE", False),
    (
        "letters of another encoding than is named",
        Reply(body=("Разработчик на Python. " * 40).encode("cp1251"), content_type="text/html; charset=utf-8"),
        "NOT_A_PAGE",
        False,
    ),
    (
        "a feed",
        Reply(body=b"<rss><channel><title>Jobs</title>" + b"<item>Python</item>" * 40, content_type="application/xml"),
        "NOT_A_PAGE",
        False,
    ),
    ("data", Reply(body=b'{"error": "' + b"no such job " * 40 + b'"}'), "NOT_A_PAGE", False),
    ("a private redirect", reply_redirect("http://10.0.0.5/jobs"), "DETAIL_UNSAFE_URL", False),
    ("a redirect to this machine", reply_redirect("http://localhost/"), "DETAIL_UNSAFE_URL", False),
    ("a redirect to a file", reply_redirect("file:///etc/passwd"), "DETAIL_UNSAFE_URL", False),
]


@pytest.mark.parametrize(
    ("reply", "code", "retryable"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES]
)
def test_it_fails_by_type_where_the_page_is_all_there_is(
    reply: Reply, code: str, retryable: bool, pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    pages.set_route(PATH, reply)
    job_id = add_job(on_page(pages))

    report = work(job_id, "enrich")

    assert (report.state, report.code) == ("failed", code)
    row = get_stage_row(job_id, "enrich")
    assert (row.error_code, row.retryable, row.attempts) == (code, retryable, 1)
    assert (row.next_attempt_at is not None) == retryable
    [failed] = list_events("EnrichmentFailed")
    assert (failed["errorCode"], failed["retryable"]) == (code, retryable)
    assert read_snapshots(job_id) == []
    for stage in ("score", "tailor", "cover", "apply"):
        blocked = get_stage_row(job_id, stage)
        assert (blocked.state, blocked.reason_code, blocked.blocked_by) == ("blocked", "UPSTREAM_FAILED", "enrich")
    assert_rebuild_matches()


def test_it_tries_no_unsafe_address_twice(pages: BoardServer, assert_rebuild_matches: Check) -> None:
    pages.set_route(PATH, reply_redirect("http://169.254.169.254/latest/meta-data"))
    job_id = add_job(on_page(pages))

    work(job_id, "enrich")
    head = read_log_head()
    report = work(job_id, "enrich", attempt=2)
    work(job_id, "enrich", run="run-2")

    assert (report.state, report.code) == ("failed", "DETAIL_UNSAFE_URL")
    assert get_stage_row(job_id, "enrich").attempts == 1
    assert read_log_head() == head
    assert len(pages.requests) == 1
    assert_rebuild_matches()


@pytest.mark.parametrize("content_type", ["text/html", "text/html; charset=utf-8", "application/xml", ""])
def test_a_page_in_an_old_encoding_is_a_page(content_type: str, pages: BoardServer) -> None:
    """However it names its encoding, if at all."""
    text = "Vous développez des applications métier à Genève, où l’équipe a été créée. " * 8
    body = f"<html><h1>Développeur</h1><p>{text}</p>".encode("cp1252")
    pages.set_route(PATH, Reply(body=body, content_type=content_type))
    job_id = add_job(on_page(pages))

    assert work(job_id, "enrich").state == "succeeded"


def test_it_leaves_a_silent_page_as_soon_as_its_run_is_canceled(
    pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    pages.set_route(PATH, reply_hang(30))
    job_id = add_job(on_page(pages))
    began = monotonic()
    context = StageContext(Owner("prep", "run-1"), 1, is_cancelled=lambda: monotonic() - began > 0.3)

    report = work_job(job_id, StageName.ENRICH, context).report

    assert report.state == "canceled"
    assert monotonic() - began < 3
    assert len(pages.requests) == 1
    assert_rebuild_matches()


def test_it_gives_up_on_a_site_that_stays_busy(pages: BoardServer, assert_rebuild_matches: Check) -> None:
    pages.set_route(PATH, reply_status(429))
    job_id = add_job(on_page(pages))

    states = [work(job_id, "enrich", run=f"run-{attempt}").state for attempt in range(1, 7)]

    assert states == ["failed"] * 4 + ["exhausted"] * 2
    assert len(pages.requests) == 5
    row = get_stage_row(job_id, "enrich")
    assert (row.attempts, row.retryable, row.error_code) == (5, False, "RATE_LIMITED")
    assert len(list_events("StageExhausted")) == 1
    assert_rebuild_matches()


def test_it_releases_what_a_failure_blocked_once_the_page_is_back(
    pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    pages.fail_first(PATH, 1, failure=reply_status(503), success=reply_html(READABLE))
    job_id = add_job(on_page(pages))

    assert work(job_id, "enrich").state == "failed"
    assert work(job_id, "enrich", attempt=2).state == "succeeded"

    assert get_stage_row(job_id, "score").state == "pending"
    assert_rebuild_matches()


def test_it_falls_back_to_the_boards_few_words_where_the_page_is_gone(
    pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    pages.set_route(PATH, reply_status(404))
    job_id = add_job(on_page(pages, description="Python and Django, in Austin."))

    assert work(job_id, "enrich").state == "succeeded"

    [snapshot] = read_snapshots(job_id)
    assert (snapshot.tier, snapshot.confidence, snapshot.quarantined) == ("source_payload", "low", True)
    assert list_events("EnrichmentFailed") == []
    assert_rebuild_matches()


def test_it_waits_for_a_busy_site_before_it_falls_back(pages: BoardServer, assert_rebuild_matches: Check) -> None:
    pages.set_route(PATH, reply_status(429))
    job_id = add_job(on_page(pages, description="Python and Django, in Austin."))

    states = [work(job_id, "enrich", attempt=attempt).state for attempt in range(1, 6)]

    assert states == ["failed"] * 4 + ["succeeded"]
    assert [snapshot.tier for snapshot in read_snapshots(job_id)] == ["source_payload"]
    assert_rebuild_matches()


def test_it_says_so_where_a_posting_has_neither_text_nor_address(assert_rebuild_matches: Check) -> None:
    job_id = add_job(replace(BACKEND, url="", description=""))

    report = work(job_id, "enrich")

    assert (report.state, report.code) == ("failed", "NO_CONTENT")
    assert_rebuild_matches()
