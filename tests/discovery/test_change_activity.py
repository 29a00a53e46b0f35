from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from discovery.contracts import ActiveState, ContentTier, PageContent
from discovery.models import Job, PostingContentSnapshot
from discovery.services.enrichment import save_snapshot
from discovery.services.postings import set_active_state
from operations.contracts import StageName
from operations.database import writer
from operations.models import JobListProjection
from operations.services.stages import reset_stages
from tests.discovery.cast import (
    BACKEND,
    DUTIES,
    SECOND_RUN,
    accept,
    add_job,
    get_stage_row,
    list_events,
    work,
)

pytestmark = pytest.mark.django_db

Check = Callable[[], None]
OPEN = PageContent(ContentTier.JSON_LD, description=DUTIES, active=ActiveState.ACTIVE)


def capture(job_id: UUID, content: PageContent) -> PostingContentSnapshot:
    with writer():
        return save_snapshot(Job.objects.get(id=job_id), content)


def read_states(job_id: UUID) -> tuple[str, str]:
    return Job.objects.get(id=job_id).active_state, JobListProjection.objects.get(job_id=job_id).active_state


@pytest.mark.parametrize(
    "notice",
    [
        "We are no longer accepting applications.",
        "This job isn’t available",
        "This role is closed",
        "This position has been filled.",
    ],
)
def test_it_closes_a_posting_by_a_notice_in_its_text(notice: str, assert_rebuild_matches: Check) -> None:
    job_id = add_job(replace(BACKEND, description=DUTIES + "\n" + notice + "\n"))

    work(job_id, "enrich")

    assert read_states(job_id) == ("closed", "closed")
    snapshot = PostingContentSnapshot.objects.get(job_id=job_id)
    assert snapshot.active_state == "closed" and snapshot.evidence
    [change] = list_events("JobActiveStateChanged")
    assert (change["toState"], change["evidence"]) == ("closed", snapshot.evidence)
    assert notice not in str(change)
    assert_rebuild_matches()


@pytest.mark.parametrize(
    "sentence",
    [
        "We close the books of nine thousand merchants every night.",
        "You will work with closed-loop control systems.",
        "Our office in Leeds is closed on Fridays.",
    ],
)
def test_it_leaves_an_open_posting_that_only_speaks_of_closing(sentence: str, assert_rebuild_matches: Check) -> None:
    job_id = add_job(replace(BACKEND, description=DUTIES + "\n" + sentence))

    work(job_id, "enrich")

    assert read_states(job_id) == ("active", "active")
    assert list_events("JobActiveStateChanged") == []
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("offset", "state"), [(timedelta(hours=-1), "closed"), (timedelta(hours=1), "active"), (None, "active")]
)
def test_it_goes_by_the_date_the_board_gave(
    offset: timedelta | None, state: str, assert_rebuild_matches: Check
) -> None:
    closes_at: datetime | None = None if offset is None else timezone.now() + offset
    job_id = add_job(replace(BACKEND, closes_at=closes_at))

    assert read_states(job_id) == (state, state)
    assert_rebuild_matches()


def test_it_tells_of_a_closed_posting_once(assert_rebuild_matches: Check) -> None:
    job_id = add_job()
    closed = replace(OPEN, active=ActiveState.CLOSED, evidence="VALID_THROUGH_PAST")

    capture(job_id, closed)
    capture(job_id, closed)

    assert len(list_events("JobActiveStateChanged")) == 1
    assert PostingContentSnapshot.objects.filter(job_id=job_id).count() == 2
    assert_rebuild_matches()


def test_it_changes_nothing_for_an_unknown_state(assert_rebuild_matches: Check) -> None:
    job_id = add_job()
    capture(job_id, replace(OPEN, active=ActiveState.CLOSED, evidence="VALID_THROUGH_PAST"))

    snapshot = capture(job_id, replace(OPEN, active=ActiveState.UNKNOWN, evidence="ACCESS_WALL"))

    assert snapshot.quarantined
    assert read_states(job_id) == ("closed", "closed")
    assert_rebuild_matches()


def test_it_opens_a_posting_again_and_lets_its_stages_go_on(assert_rebuild_matches: Check) -> None:
    notice = "We are no longer accepting applications."
    job_id = add_job(replace(BACKEND, description=DUTIES + "\n" + notice))
    work(job_id, "enrich")
    assert work(job_id, "score").code == "POSTING_CLOSED"

    accept(BACKEND, ref=SECOND_RUN)  # the board dropped the notice
    reset_stages(StageName.ENRICH, [job_id])
    assert work(job_id, "enrich", run="run-2").state == "succeeded"

    assert read_states(job_id) == ("active", "active")
    assert [event["toState"] for event in list_events("JobActiveStateChanged")] == ["closed", "active"]
    assert get_stage_row(job_id, "score").state == "pending"
    assert_rebuild_matches()


def test_it_bounds_the_evidence(assert_rebuild_matches: Check) -> None:
    job_id = add_job()

    with writer():
        set_active_state(Job.objects.get(id=job_id), ActiveState.UNKNOWN, evidence="E" * 500)

    assert Job.objects.get(id=job_id).active_evidence == "E" * 80
    assert read_states(job_id) == ("unknown", "unknown")
    assert_rebuild_matches()
