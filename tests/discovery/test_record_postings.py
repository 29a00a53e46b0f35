import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from discovery.contracts import PayPeriod, Salary, WorkMode
from discovery.models import Job, JobSourceObservation
from discovery.sources.base import get_source
from operations.contracts import ENROLLED_STAGES, Cohort
from operations.models import DiscoveryExecutionJob, JobListProjection, JobStageState
from tests.discovery.cast import (
    BACKEND,
    BERLIN,
    FIRST_RUN,
    SECOND_RUN,
    accept,
    find_job,
    list_event_types,
    list_events,
    read_log_head,
    require_shared,
)

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


def test_it_makes_one_listed_job_with_its_stage_rows_and_membership(assert_rebuild_matches: Check) -> None:
    report = accept(BACKEND)

    job = find_job(BACKEND)
    assert (report.new, report.existing, report.skipped) == (1, 0, ())
    assert list_event_types() == ["JobDiscovered", "JobSourceObserved"]
    assert set(JobStageState.objects.filter(job_id=job.id).values_list("stage", "state")) == {
        (stage.value, "pending") for stage in ENROLLED_STAGES
    }
    listed = JobListProjection.objects.get(job_id=job.id)
    assert (listed.title, listed.company, listed.work_mode) == ("Backend Engineer", "Northwind Ferries", "hybrid")
    assert (listed.source, listed.source_count, listed.active_state) == ("greenhouse:northwind", 1, "active")
    membership = DiscoveryExecutionJob.objects.get(job_id=job.id)
    assert (membership.run_id, membership.cohort) == (FIRST_RUN.run_id, Cohort.OBSERVED_THIS_RUN)
    assert_rebuild_matches()


def test_it_takes_an_id_that_is_twice_in_one_feed_as_one_job(assert_rebuild_matches: Check) -> None:
    report = accept(BACKEND, BERLIN, replace(BACKEND, title="Backend Engineer (again)"))

    assert report.new == 2
    assert Job.objects.filter(external_id="R-1").count() == 1
    assert len(list_events("JobDiscovered")) == 2
    assert_rebuild_matches()


def test_it_keeps_two_openings_with_one_title_apart_in_one_scan(assert_rebuild_matches: Check) -> None:
    accept(BACKEND, BERLIN)

    assert set(Job.objects.values_list("title", "location")) == {
        ("Backend Engineer", "Austin"),
        ("Backend Engineer", "Berlin"),
    }
    assert_rebuild_matches()


def test_it_keeps_two_openings_with_one_title_apart_over_two_scans(assert_rebuild_matches: Check) -> None:
    accept(BACKEND)
    report = accept(BACKEND, BERLIN, ref=SECOND_RUN)

    assert (report.new, report.existing, report.updated) == (1, 1, 0)
    assert find_job(BACKEND).location == "Austin"
    assert find_job(BERLIN).location == "Berlin"
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("kind", "name", "board", "sharing"),
    [
        ("greenhouse", "greenhouse/gong-list.json", "gongio", {"4679941006", "999000111"}),
        ("ashby", "ashby/wealth-com.json", "wealth-com", {"c46c1464-d1e3-4fb7-9ace-7f1b9b65774c", "nocomp-0002"}),
    ],
)
def test_it_keeps_postings_that_share_an_address_apart(
    kind: str, name: str, board: str, sharing: set[str], assert_rebuild_matches: Check
) -> None:
    payload = json.loads(require_shared(name).read_text())
    parsed = get_source(kind).parse_board(payload, board=board)

    accept(*parsed.postings)
    accept(*parsed.postings, ref=SECOND_RUN)

    rows = Job.objects.filter(external_id__in=sharing)
    assert rows.count() == 2
    assert rows.values("url").distinct().count() == 1
    assert rows.values("title").distinct().count() == 2
    assert Job.objects.count() == len(parsed.postings)
    assert_rebuild_matches()


def test_it_adds_a_sighting_but_no_job_for_a_second_source_of_the_same_board(assert_rebuild_matches: Check) -> None:
    accept(BACKEND)
    report = accept(BACKEND, source="mirror:northwind")

    assert (report.new, report.existing, report.updated) == (0, 1, 0)
    assert Job.objects.count() == 1
    assert JobSourceObservation.objects.count() == 2
    assert JobListProjection.objects.get().source_count == 2
    assert_rebuild_matches()


def test_it_adds_nothing_but_sightings_when_a_board_is_read_again(assert_rebuild_matches: Check) -> None:
    accept(BACKEND, BERLIN)
    head = read_log_head()

    report = accept(replace(BACKEND, updated_at=timezone.now()), BERLIN, ref=SECOND_RUN)

    assert (report.new, report.existing, report.updated) == (0, 2, 0)
    assert list_event_types(after=head) == ["JobSourceObserved"] * 2
    assert list(JobSourceObservation.objects.values_list("times_seen", flat=True)) == [2, 2]
    assert_rebuild_matches()


def test_it_counts_a_sighting_once_when_the_activity_is_tried_again(assert_rebuild_matches: Check) -> None:
    accept(BACKEND)
    head = read_log_head()

    accept(BACKEND)
    accept(BACKEND)

    assert JobSourceObservation.objects.get().times_seen == 1
    assert list_event_types(after=head) == []
    assert DiscoveryExecutionJob.objects.count() == 1
    assert_rebuild_matches()


def test_it_promotes_no_deleted_job_into_an_execution(assert_rebuild_matches: Check) -> None:
    accept(BACKEND)
    Job.objects.update(deleted_at=timezone.now())

    accept(BACKEND, ref=SECOND_RUN)

    assert not DiscoveryExecutionJob.objects.filter(run_id=SECOND_RUN.run_id).exists()
    assert_rebuild_matches()


PAY = Salary(Decimal(90_000), Decimal(110_000), "USD", PayPeriod.YEAR, "OTE")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"title": "Senior Backend Engineer"}, ["title"]),
        ({"company": "Northwind Group"}, ["company"]),
        ({"location": "Dallas", "places": ("Dallas",)}, ["location", "places"]),
        ({"mode": WorkMode.REMOTE}, ["workMode"]),
        ({"salary": PAY}, ["salary"]),
        ({"apply_url": "https://boards.example.com/elsewhere"}, ["applyUrl"]),
        ({"description": BACKEND.description + "\nKafka is a must."}, ["description"]),
        ({"closes_at": datetime(2199, 1, 1, tzinfo=UTC)}, ["closesAt"]),
    ],
)
def test_it_names_what_changed_in_a_posting(
    changes: dict[str, object], named: list[str], assert_rebuild_matches: Check
) -> None:
    accept(BACKEND)

    report = accept(replace(BACKEND, **changes), ref=SECOND_RUN)  # type: ignore[arg-type]
    accept(replace(BACKEND, **changes), ref=SECOND_RUN)  # type: ignore[arg-type]

    assert report.updated == 1
    [update] = list_events("JobUpdated")
    assert update["changed"] == named
    assert JobListProjection.objects.get().title == changes.get("title", "Backend Engineer")
    assert_rebuild_matches()


def test_it_forgets_a_pay_that_is_no_longer_stated(assert_rebuild_matches: Check) -> None:
    accept(replace(BACKEND, salary=PAY))
    assert JobListProjection.objects.get().salary == "90,000–110,000 USD a year OTE"

    accept(BACKEND, ref=SECOND_RUN)

    job = find_job(BACKEND)
    assert (job.salary_minimum, job.salary_maximum, job.salary_currency) == (None, None, "")
    assert (job.salary_period, job.salary_note) == (PayPeriod.UNKNOWN, "")
    assert JobListProjection.objects.get().salary == ""
    assert_rebuild_matches()


def test_it_shows_a_pay_without_a_range_once(assert_rebuild_matches: Check) -> None:
    accept(replace(BACKEND, salary=Salary(Decimal(50), Decimal(50), "USD", PayPeriod.HOUR)))

    assert JobListProjection.objects.get().salary == "50 USD an hour"
    assert_rebuild_matches()


def test_it_closes_a_posting_whose_closing_date_has_passed(assert_rebuild_matches: Check) -> None:
    accept(replace(BACKEND, closes_at=timezone.now() - timedelta(days=1)))

    job = find_job(BACKEND)
    assert (job.active_state, job.active_evidence) == ("closed", "closing_date_passed")
    [change] = list_events("JobActiveStateChanged")
    assert (change["fromState"], change["toState"]) == ("active", "closed")
    assert JobListProjection.objects.get().active_state == "closed"
    assert_rebuild_matches()


def test_it_closes_a_known_posting_once_its_date_passes_and_opens_it_when_the_date_moves(
    assert_rebuild_matches: Check,
) -> None:
    soon = replace(BACKEND, closes_at=timezone.now() + timedelta(hours=1))
    accept(soon)
    Job.objects.update(closes_at=timezone.now() - timedelta(hours=1))  # an hour and a bit later

    accept(soon, ref=SECOND_RUN)
    accept(soon, ref=SECOND_RUN)
    assert [event["toState"] for event in list_events("JobActiveStateChanged")] == ["closed"]

    accept(replace(soon, closes_at=timezone.now() + timedelta(days=30)), ref=SECOND_RUN)
    assert find_job(BACKEND).active_state == "active"
    assert JobListProjection.objects.get().active_state == "active"
    assert_rebuild_matches()


def test_it_keeps_companies_of_other_scripts_apart(assert_rebuild_matches: Check) -> None:
    akume = replace(BACKEND, board="akume", external_id="1", company="株式会社アクメ")
    romashka = replace(BACKEND, board="romashka", external_id="1", company="ООО Ромашка")
    nameless = replace(BACKEND, board="dots", external_id="1", company="...")

    for posting in (akume, romashka, nameless):
        accept(posting)

    keys = [find_job(posting).company_key for posting in (akume, romashka, nameless)]
    assert keys[0] and keys[1] and keys[0] != keys[1]
    assert keys[2] == ""
    assert Job.objects.count() == 3
    assert_rebuild_matches()


def test_it_accepts_several_boards_in_one_call(assert_rebuild_matches: Check) -> None:
    other = replace(BACKEND, board="southwind", company="Southwind")

    report = accept(BACKEND, other)

    assert report.new == 2
    assert {job.company for job in Job.objects.all()} == {"Northwind Ferries", "Southwind"}
    assert_rebuild_matches()
