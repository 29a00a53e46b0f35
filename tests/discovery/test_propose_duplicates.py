from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest

from discovery.contracts import ActiveState, ContentTier, PageContent, Posting
from discovery.models import DuplicateCandidate, Job
from discovery.services import enrichment
from discovery.services.enrichment import save_snapshot
from operations.contracts import StageName
from operations.database import writer
from operations.models import JobListProjection
from operations.services.stages import reset_stages
from tests.discovery.cast import AGENCY_COPY, BACKEND, BERLIN, DUTIES, add_job, list_events, work

pytestmark = pytest.mark.django_db

Check = Callable[[], None]


def enrich(*postings: Posting) -> list[UUID]:
    job_ids = [add_job(posting) for posting in postings]
    for job_id in job_ids:
        assert work(job_id, "enrich").state == "succeeded"
    return job_ids


def read_proposals() -> list[tuple[set[UUID], str, float, str]]:
    rows = DuplicateCandidate.objects.order_by("id")
    return [({row.job_id, row.other_job_id}, row.reason, row.similarity, row.state) for row in rows]


def test_it_proposes_an_agencys_copy_and_merges_nothing(assert_rebuild_matches: Check) -> None:
    original, copy = enrich(BACKEND, AGENCY_COPY)

    assert read_proposals() == [({original, copy}, "equal_description", 1.0, "proposed")]
    [event] = list_events("ContentDuplicateCandidateDetected")
    assert (event["jobId"], event["otherJobId"], event["similarity"]) == (str(copy), str(original), 1.0)
    assert Job.objects.count() == JobListProjection.objects.count() == 2
    assert set(Job.objects.values_list("company", flat=True)) == {"Northwind Ferries", "Staffing Co"}
    assert_rebuild_matches()


def test_it_sees_through_layout_and_case(assert_rebuild_matches: Check) -> None:
    enrich(BACKEND, replace(AGENCY_COPY, description=DUTIES.upper().replace("\n", "\n\n").replace(".", " ·")))

    assert [proposal[1:3] for proposal in read_proposals()] == [("equal_description", 1.0)]
    assert_rebuild_matches()


def test_it_proposes_by_an_equal_application_address(assert_rebuild_matches: Check) -> None:
    other = replace(
        AGENCY_COPY,
        apply_url="https://BOARDS.example.com/northwind/jobs/R-1/apply?utm_source=agency#form",
        description="A ferry company is looking for someone who knows their way around bookings. " * 5,
    )
    enrich(BACKEND, other)

    assert [proposal[1:3] for proposal in read_proposals()] == [("equal_application_url", 0.95)]
    assert_rebuild_matches()


def test_it_proposes_near_equal_texts_of_namesakes_only(assert_rebuild_matches: Check) -> None:
    near = DUTIES + "Our office is in Berlin."
    same_name = replace(BERLIN, company="Northwind Ferries, Inc.", description=near)
    other_name = replace(BERLIN, external_id="R-3", title="Data Engineer", apply_url="", description=near + " Data.")
    job_ids = enrich(BACKEND, same_name, other_name)

    [(pair, reason, similarity, _)] = read_proposals()
    assert pair == set(job_ids[:2])
    assert reason == "similar_description" and 0.85 <= similarity < 1.0
    assert_rebuild_matches()


def test_it_proposes_nothing_for_one_title_with_different_texts(assert_rebuild_matches: Check) -> None:
    enrich(BACKEND, replace(BERLIN, description="Run the harbour's timetable, its radios and its tide tables. " * 6))

    assert read_proposals() == []
    assert_rebuild_matches()


def test_it_takes_no_two_companies_of_other_scripts_for_one(assert_rebuild_matches: Check) -> None:
    names = ["株式会社アクメ", "ООО Ромашка", "...", "!!!"]
    enrich(
        *(
            replace(BACKEND, board=f"b{n}", company=name, apply_url="", description=DUTIES + f"Office number {n}.")
            for n, name in enumerate(names)
        )
    )

    assert read_proposals() == []
    assert_rebuild_matches()


def test_it_proposes_a_pair_once_however_often_it_is_seen(assert_rebuild_matches: Check) -> None:
    job_ids = enrich(BACKEND, AGENCY_COPY)
    DuplicateCandidate.objects.update(state="dismissed")

    for job_id in job_ids:
        reset_stages(StageName.ENRICH, [job_id])
        work(job_id, "enrich", run="run-2")

    assert [proposal[3] for proposal in read_proposals()] == ["dismissed"]
    assert len(list_events("ContentDuplicateCandidateDetected")) == 1
    assert_rebuild_matches()


def test_it_bounds_what_one_posting_can_propose(monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check) -> None:
    monkeypatch.setattr(enrichment, "NEAR_LIMIT", 3)
    copies = [
        replace(AGENCY_COPY, external_id=str(number), apply_url=f"https://jobs.example.org/{number}")
        for number in range(6)
    ]
    enrich(*copies)

    newest = Job.objects.get(external_id="5").id
    assert sum(newest in pair for pair, *_ in read_proposals()) == 3
    assert_rebuild_matches()


def test_it_lets_no_often_enriched_job_hide_another(
    monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    monkeypatch.setattr(enrichment, "NEAR_LIMIT", 3)
    first, second = enrich(BACKEND, AGENCY_COPY)
    content = PageContent(ContentTier.SOURCE_PAYLOAD, description=DUTIES, active=ActiveState.ACTIVE)
    for job_id in (first, second):
        for _ in range(4):
            with writer():
                save_snapshot(Job.objects.get(id=job_id), content)

    [third] = enrich(replace(AGENCY_COPY, external_id="10", apply_url=""))

    pairs = [pair for pair, *_ in read_proposals()]
    assert {first, third} in pairs and {second, third} in pairs
    assert_rebuild_matches()
