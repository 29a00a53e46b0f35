from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from django.utils import timezone

from discovery.contracts import ActiveState, ContentTier, PageContent
from discovery.models import Job
from discovery.queries import get_profile
from discovery.services.enrichment import save_snapshot
from discovery.services.profiles import import_profile
from materials import engines
from materials.contracts import LetterDocument, Line
from materials.models import CoverLetter
from materials.queries import get_letter
from operations.contracts import StageName
from operations.database import writer
from operations.services.stages import reset_stages
from tests.discovery.cast import add_job, get_stage_row, list_event_types, list_events, work, work_through
from tests.materials.candidate import SAMPLE

pytestmark = pytest.mark.django_db

Check = Callable[[], None]
Change = Callable[[LetterDocument], LetterDocument]


@pytest.fixture
def tailored(db: None) -> UUID:
    """Northwind's opening, with a resume for Anaïs."""
    import_profile(SAMPLE.read_bytes())
    job_id = add_job()
    work_through(job_id, "enrich", "score", "tailor")
    return job_id


def test_it_stores_a_letter_whose_claims_are_the_candidates(tailored: UUID, assert_rebuild_matches: Check) -> None:
    assert work(tailored, "cover").state == "succeeded"

    row = CoverLetter.objects.get()
    assert (row.job_id, row.version, row.engine, row.profile_version, row.resume_version) == (
        tailored, 1, "builtin", 1, 1,
    )  # fmt: skip
    letter = get_letter(tailored).document
    known = {evidence.id for evidence in get_profile(1).iter_evidence()}
    lines = [line for paragraph in letter.paragraphs for line in paragraph]
    cited = {item for line in lines for item in line.evidence_ids}
    assert cited and cited <= known
    assert (letter.name, letter.company, letter.title) == ("Anaïs Krüger", "Northwind Ferries", "Backend Engineer")
    assert letter.date == timezone.now().date().isoformat()
    assert_rebuild_matches()


def test_it_tells_of_a_letter_without_its_text(tailored: UUID, assert_rebuild_matches: Check) -> None:
    work(tailored, "cover")

    assert list_event_types()[-2:] == ["CoverLetterGenerated", "StageCompleted"]
    assert list_events("CoverLetterGenerated") == [
        {"jobId": str(tailored), "version": 1, "engine": "builtin", "resumeVersion": 1}
    ]
    assert get_stage_row(tailored, "apply").state == "pending"
    assert_rebuild_matches()


def test_it_writes_beside_the_newest_resume(tailored: UUID, assert_rebuild_matches: Check) -> None:
    work(tailored, "cover")
    for stage in (StageName.TAILOR, StageName.COVER):
        reset_stages(stage, [tailored])
    work_through(tailored, "tailor", "cover", run="run-2")

    rows = CoverLetter.objects.order_by("version").values_list("version", "resume_version")
    assert list(rows) == [(1, 1), (2, 2)]
    assert_rebuild_matches()


def add_sentence(text: str, *evidence_ids: str) -> Change:
    def change(letter: LetterDocument) -> LetterDocument:
        return replace(letter, paragraphs=(*letter.paragraphs, (Line(text, evidence_ids),)))

    return change


@pytest.mark.parametrize(
    "change",
    [
        add_sentence("I led forty engineers at Initech.", "summary"),
        add_sentence("I hold a doctorate in physics from Oxford."),
        add_sentence("I am excited to join {{COMPANY}}."),
        lambda letter: replace(letter, name="Someone Else"),
        lambda letter: replace(letter, signature="Someone Else"),
    ],
    ids=["a claim with evidence that does not say it", "a claim without evidence", "placeholder", "name", "signature"],
)
def test_it_refuses_what_a_generator_invents(
    change: Change, tailored: UUID, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    monkeypatch.setitem(engines.WRITERS, "builtin", lambda request: change(engines.write_with_builtin(request)))

    report = work(tailored, "cover")

    assert (report.state, report.code) == ("failed", "NOT_GROUNDED")
    row = get_stage_row(tailored, "cover")
    assert (row.retryable, row.attempts) == (False, 1)
    assert not CoverLetter.objects.exists()
    assert list_events("CoverLetterGenerated") == []
    assert "Initech" not in str(list_events()) and "Oxford" not in row.error_message
    apply = get_stage_row(tailored, "apply")
    assert (apply.state, apply.blocked_by) == ("blocked", "cover")
    assert_rebuild_matches()


@pytest.mark.parametrize(
    ("active", "code"), [(ActiveState.CLOSED, "POSTING_CLOSED"), (ActiveState.ACTIVE, "LOW_CONFIDENCE")]
)
def test_it_writes_no_letter_for_a_posting_that_closed_or_lost_its_trust(
    active: ActiveState, code: str, tailored: UUID, assert_rebuild_matches: Check
) -> None:
    with writer():
        save_snapshot(
            Job.objects.get(id=tailored), PageContent(ContentTier.SOURCE_PAYLOAD, description="Short.", active=active)
        )

    report = work(tailored, "cover")

    assert (report.state, report.code) == ("blocked", code)
    row = get_stage_row(tailored, "cover")
    assert (row.blocked_by, row.attempts) == ("enrich", 0)
    assert not CoverLetter.objects.exists()
    assert_rebuild_matches()


def test_it_waits_for_the_resume(assert_rebuild_matches: Check) -> None:
    import_profile(SAMPLE.read_bytes())
    job_id = add_job()
    work_through(job_id, "enrich", "score")

    assert work(job_id, "cover").code == "WAITS_FOR_TAILOR"
    assert_rebuild_matches()


def test_it_accepts_a_letter_that_was_published_before_the_worker_died(
    tailored: UUID, assert_rebuild_matches: Check
) -> None:
    work(tailored, "cover")

    again = work(tailored, "cover", attempt=2)

    assert again.reused
    assert CoverLetter.objects.count() == 1
    assert_rebuild_matches()
