import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from pytest_django import Settings

from discovery import stages
from discovery.contracts import ActiveState, ContentTier, PageContent, WorkMode
from discovery.gateway import Response
from discovery.models import Job
from discovery.services.enrichment import save_snapshot
from operations.contracts import StageName
from operations.database import writer
from operations.models import JobDetailProjection
from operations.services.stages import reset_stages
from tests.boardserver import BoardServer, Reply, reply_html
from tests.discovery.cast import (
    BACKEND,
    DUTIES,
    PATH,
    READABLE,
    add_job,
    get_stage_row,
    list_event_types,
    list_events,
    on_page,
    read_snapshots,
    require_shared,
    serving_pages,
    work,
)

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


@pytest.fixture
def pages(settings: Settings) -> Iterator[BoardServer]:
    with serving_pages(settings) as server:
        yield server


def enrich_again(job_id: UUID, *, run: str = "run-2") -> None:
    assert reset_stages(StageName.ENRICH, [job_id]).reset == (job_id,)
    assert work(job_id, "enrich", run=run).state == "succeeded"


# --- the source's own text ---------------------------------------------------------------------


def test_it_takes_the_boards_own_text_without_asking_the_site(
    pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    job_id = add_job(replace(on_page(pages), description=DUTIES, apply_url="https://boards.example.com/apply"))

    assert work(job_id, "enrich").state == "succeeded"

    assert pages.requests == []
    assert pages.connections == 0
    [snapshot] = read_snapshots(job_id)
    assert (snapshot.tier, snapshot.confidence, snapshot.quarantined) == ("source_payload", "high", False)
    assert snapshot.description == DUTIES.strip()
    assert list_event_types()[-4:] == [
        "StageStarted",
        "PostingContentSnapshotCaptured",
        "JobEnriched",
        "StageCompleted",
    ]
    [enriched] = list_events("JobEnriched")
    assert "Ferries" not in str(enriched)
    detail = JobDetailProjection.objects.get(job_id=job_id)
    assert detail.enrichment_json["confidence"] == "high"
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("length", "apply_url", "confidence", "quarantined"),
    [
        (200, "https://boards.example.com/apply", "high", False),
        (200, "", "medium", False),
        (5_000, "", "medium", False),
    ],
)
def test_it_rates_the_boards_text(
    length: int, apply_url: str, confidence: str, quarantined: bool, assert_rebuild_matches: Check
) -> None:
    job_id = add_job(replace(BACKEND, description="d" * length, apply_url=apply_url))

    work(job_id, "enrich")

    [snapshot] = read_snapshots(job_id)
    assert (snapshot.confidence, snapshot.quarantined) == (confidence, quarantined)
    assert_rebuild_matches()


# --- the posting's page ------------------------------------------------------------------------


def test_it_reads_structured_data_of_the_page(pages: BoardServer, assert_rebuild_matches: Check) -> None:
    page = require_shared("jsonld-html/neura-literal-backslash-n.html")
    pages.set_route(PATH, Reply(body=page.read_bytes(), content_type="text/html; charset=utf-8"))
    job_id = add_job(on_page(pages, description="See our site."))

    assert work(job_id, "enrich").state == "succeeded"

    assert [request.path for request in pages.requests] == [PATH]
    [snapshot] = read_snapshots(job_id)
    assert (snapshot.tier, snapshot.confidence, snapshot.active_state) == ("json_ld", "high", "active")
    assert snapshot.apply_url.startswith("https://jobs.neura-robotics.com/offer/")
    assert len(snapshot.description) > 1_000 and "\\n" not in snapshot.description
    assert_rebuild_matches()


@pytest.mark.parametrize("name", ["wwr-job.html", "stackoverflow-job.html", "stackoverflow-via.html"])
def test_it_closes_a_posting_whose_page_says_that_it_has_ended(
    name: str, pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    page = require_shared(f"jsonld-html/{name}")
    pages.set_route(PATH, Reply(body=page.read_bytes(), content_type="text/html; charset=utf-8"))
    job_id = add_job(on_page(pages))

    assert work(job_id, "enrich").state == "succeeded"

    [snapshot] = read_snapshots(job_id)
    assert (snapshot.active_state, snapshot.evidence) == ("closed", "VALID_THROUGH_PAST")
    assert Job.objects.get(id=job_id).active_state == "closed"
    assert [event["evidence"] for event in list_events("JobActiveStateChanged")] == ["VALID_THROUGH_PAST"]
    assert_rebuild_matches()


def test_it_reads_a_page_without_structured_data_as_text(pages: BoardServer, assert_rebuild_matches: Check) -> None:
    job_id = add_job(on_page(pages))

    work(job_id, "enrich")

    [snapshot] = read_snapshots(job_id)
    assert (snapshot.tier, snapshot.confidence, snapshot.quarantined) == ("readable_text", "medium", False)
    assert "Strong knowledge of Django and PostgreSQL." in snapshot.description
    assert_rebuild_matches()


def test_a_relative_link_counts_from_where_the_redirects_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    script = json.dumps({"@type": "JobPosting", "title": "Dev", "description": DUTIES, "url": "apply"})
    body = f'<script type="application/ld+json">{script}</script>'.encode()
    answer = Response(200, {}, body, "https://boards.example.org/jobs/2/", "text/html")
    monkeypatch.setattr(stages, "fetch", lambda url, **options: answer)

    page = stages.fetch_page("https://example.com/old", now=timezone.now(), is_cancelled=lambda: False)

    assert page.apply_url == "https://boards.example.org/jobs/2/apply"


def test_it_keeps_the_boards_text_where_the_page_says_less(pages: BoardServer, assert_rebuild_matches: Check) -> None:
    pages.set_route(PATH, reply_html("<html><body><p>Apply now.</p></body></html>"))
    job_id = add_job(on_page(pages, description="Python and Django, in Austin, with a team of seven."))

    work(job_id, "enrich")

    [snapshot] = read_snapshots(job_id)
    assert (snapshot.tier, snapshot.description) == (
        "source_payload",
        "Python and Django, in Austin, with a team of seven.",
    )
    assert_rebuild_matches()


def test_a_page_that_says_less_still_tells_that_the_posting_has_ended(
    pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    pages.set_route(PATH, reply_html("<html><body><h1>This position has been filled.</h1></body></html>"))
    told, silent = (
        add_job(on_page(pages, description="Python and Django, in Austin, with a team of seven, and more to say.")),
        add_job(replace(on_page(pages), external_id="R-9", description="")),
    )

    for job_id in (told, silent):
        assert work(job_id, "enrich").state == "succeeded"
        [snapshot] = read_snapshots(job_id)
        assert snapshot.active_state == "closed" and snapshot.evidence.startswith("NOTICE_")
        assert Job.objects.get(id=job_id).active_state == "closed"
        assert work(job_id, "score").code == "POSTING_CLOSED"
    assert read_snapshots(told)[0].description.startswith("Python and Django")
    assert_rebuild_matches()


def test_it_fills_in_what_the_source_left_open_and_changes_nothing_else(
    pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    closes = timezone.now().replace(microsecond=0) + timedelta(days=30)
    structured = {
        "@type": "JobPosting", "title": "Another title", "description": "Build things in Python. " * 20,
        "jobLocationType": "TELECOMMUTE", "employmentType": "FULL_TIME", "validThrough": closes.isoformat(),
        "jobLocation": {"address": {"addressLocality": "Lisbon", "addressCountry": "PT"}},
        "baseSalary": {"currency": "EUR", "value": {"minValue": 60000, "maxValue": 80000, "unitText": "YEAR"}},
    }  # fmt: skip
    pages.set_route(PATH, reply_html(f'<script type="application/ld+json">{json.dumps(structured)}</script>'))
    job_id = add_job(replace(on_page(pages), location="Porto", mode=WorkMode.UNKNOWN, salary=None, employment_type=""))
    before = Job.objects.get(id=job_id)

    assert work(job_id, "enrich").state == "succeeded"

    job = Job.objects.get(id=job_id)
    assert (job.title, job.location) == (before.title, "Porto")
    assert (job.mode, job.employment_type, job.closes_at) == ("remote", "FULL_TIME", closes)
    assert (job.salary_minimum, job.salary_maximum, job.salary_currency) == (60000, 80000, "EUR")
    [updated] = list_events("JobUpdated")
    assert {"workMode", "employmentType", "salary", "closesAt"} <= set(updated["changed"])
    assert "location" not in updated["changed"]
    enrich_again(job_id)
    assert len(list_events("JobUpdated")) == 1
    assert_rebuild_matches()


def test_it_stores_a_page_that_no_database_would_take(pages: BoardServer, assert_rebuild_matches: Check) -> None:
    script = (
        '{"@type":"JobPosting","title":"Dev\\u0000","url":"https://example.com/' + "a" * 3_000 + '",'
        '"description":"' + "Python \\u0000\\ud800 and Django. " * 20 + '"}'
    )
    pages.set_route(PATH, reply_html(f'<script type="application/ld+json">{script}</script><p>\x00</p>'))
    job_id = add_job(on_page(pages))

    assert work(job_id, "enrich").state == "succeeded"

    [snapshot] = read_snapshots(job_id)
    assert snapshot.tier == "json_ld"
    assert snapshot.description.startswith("Python")
    assert len(snapshot.apply_url) <= 2_000
    assert_rebuild_matches()


# --- what the later stages make of it ----------------------------------------------------------


def test_it_blocks_every_later_stage_of_a_closed_posting(assert_rebuild_matches: Check) -> None:
    job_id = add_job(replace(BACKEND, closes_at=timezone.now() - timedelta(days=1)))
    assert work(job_id, "enrich").state == "succeeded"

    report = work(job_id, "score")

    assert (report.state, report.code) == ("blocked", "POSTING_CLOSED")
    score, tailor = get_stage_row(job_id, "score"), get_stage_row(job_id, "tailor")
    assert (score.blocked_by, score.attempts) == ("enrich", 0)
    assert (tailor.state, tailor.reason_code, tailor.blocked_by) == ("blocked", "UPSTREAM_BLOCKED", "score")
    assert_rebuild_matches()


def test_it_appends_a_version_and_leaves_the_older_one_as_it_was(
    pages: BoardServer, assert_rebuild_matches: Check
) -> None:
    job_id = add_job(on_page(pages))
    work(job_id, "enrich")
    [first] = read_snapshots(job_id)

    pages.set_route(PATH, reply_html(READABLE + "<p>Now with Kafka.</p>" * 3))
    enrich_again(job_id)

    older, newer = read_snapshots(job_id)
    assert (older.version, newer.version) == (1, 2)
    assert (older.description, older.captured_at) == (first.description, first.captured_at)
    assert "Now with Kafka." in newer.description and "Now with Kafka." not in older.description
    assert [event["version"] for event in list_events("PostingContentSnapshotCaptured")] == [1, 2]
    assert_rebuild_matches()


def test_it_accepts_a_snapshot_that_a_dead_worker_had_already_published(assert_rebuild_matches: Check) -> None:
    job_id = add_job()

    first, again = work(job_id, "enrich"), work(job_id, "enrich", attempt=2)

    assert (first.reused, again.state, again.reused) == (False, "succeeded", True)
    assert len(read_snapshots(job_id)) == 1
    assert_rebuild_matches()


def test_it_quarantines_a_page_of_unknown_activity(assert_rebuild_matches: Check) -> None:
    job_id = add_job()
    content = PageContent(
        ContentTier.READABLE_TEXT, description=DUTIES, active=ActiveState.UNKNOWN, evidence="ACCESS_WALL"
    )

    with writer():
        snapshot = save_snapshot(Job.objects.get(id=job_id), content)

    assert (snapshot.confidence, snapshot.quarantined, snapshot.evidence) == ("medium", True, "ACCESS_WALL")
    assert Job.objects.get(id=job_id).active_state == "active"
    assert_rebuild_matches()


def test_it_works_on_no_deleted_job(assert_rebuild_matches: Check) -> None:
    job_id = add_job()
    Job.objects.filter(id=job_id).update(deleted_at=timezone.now())

    report = work(job_id, "enrich")

    assert (report.state, report.code) == ("canceled", "JOB_DELETED")
    assert get_stage_row(job_id, "enrich").attempts == 0
    assert_rebuild_matches()
