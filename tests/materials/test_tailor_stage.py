from collections.abc import Callable, Iterator
from dataclasses import replace
from uuid import UUID

import pytest

from discovery.contracts import ActiveState, ContentTier, PageContent
from discovery.models import Job
from discovery.queries import get_posting, get_profile
from discovery.services.enrichment import save_snapshot
from discovery.services.profiles import import_profile
from discovery.services.runs import crawl_source, plan_run
from discovery.services.sources import register_bundled_sources
from materials import engines
from materials.contracts import ContactLine, Line, ResumeDocument, SkillLine
from materials.grounding import check_resume
from materials.models import TailoredResume
from materials.queries import get_resume
from operations.contracts import StageName
from operations.database import writer
from operations.services.stages import reset_stages
from operations.settings_store import change_settings
from tests.discovery.cast import (
    BACKEND,
    DUTIES,
    FIRST_RUN,
    add_job,
    get_stage_row,
    list_event_types,
    list_events,
    require_shared,
    work,
    work_through,
)
from tests.materials.candidate import SAMPLE

pytestmark = pytest.mark.django_db

Check = Callable[[], None]
Change = Callable[[ResumeDocument], ResumeDocument]


@pytest.fixture
def scored(db: None) -> UUID:
    """Northwind's opening, scored for Anaïs."""
    import_profile(SAMPLE.read_bytes())
    job_id = add_job()
    work_through(job_id, "enrich", "score")
    return job_id


def distrust(job_id: UUID) -> None:
    """The same text again, read from a page that does not say whether the posting is still open."""
    text = get_posting(job_id).description
    with writer():
        save_snapshot(
            Job.objects.get(id=job_id),
            PageContent(ContentTier.SOURCE_PAYLOAD, description=text, active=ActiveState.UNKNOWN),
        )


def iter_lines(document: ResumeDocument) -> Iterator[Line]:
    for entry in (*document.experience, *document.projects):
        yield from entry.lines


def test_it_stores_a_resume_of_the_candidates_own_words(scored: UUID, assert_rebuild_matches: Check) -> None:
    assert work(scored, "tailor").state == "succeeded"

    row = TailoredResume.objects.get()
    assert (row.job_id, row.version, row.engine, row.profile_version, row.score_version) == (scored, 1, "builtin", 1, 1)
    document, profile = get_resume(scored).document, get_profile(1)
    check_resume(document, profile=profile)
    own = {evidence.text for evidence in profile.iter_evidence()}
    lines = list(iter_lines(document))
    assert lines
    assert {line.text for line in lines} <= own
    assert document.name == "Anaïs Krüger"
    assert_rebuild_matches()


def test_it_records_where_every_line_comes_from(scored: UUID, assert_rebuild_matches: Check) -> None:
    work(scored, "tailor")

    assert list_event_types()[-3:] == ["ResumeApproved", "BulletProvenanceRecorded", "StageCompleted"]
    [recorded] = list_events("BulletProvenanceRecorded")
    lines = list(iter_lines(get_resume(scored).document))
    bullets = {evidence.id: evidence.text for evidence in get_profile(1).iter_evidence()}
    assert recorded["lines"] == len(lines)
    assert set(recorded["evidenceIds"]) == {cited for line in lines for cited in line.evidence_ids}
    assert all(line.text in {bullets[cited] for cited in line.evidence_ids} for line in lines)
    events = str(list_events("ResumeApproved", "BulletProvenanceRecorded"))
    assert not [line.text for line in lines if line.text in events]
    assert_rebuild_matches()


def test_it_writes_the_same_resume_for_the_same_posting(scored: UUID, assert_rebuild_matches: Check) -> None:
    work(scored, "tailor")
    reset_stages(StageName.TAILOR, [scored])
    work(scored, "tailor", run="run-2")

    first, second = TailoredResume.objects.order_by("version")
    assert (first.version, second.version) == (1, 2)
    assert first.document == second.document
    assert_rebuild_matches()


# --- the gate ----------------------------------------------------------------------------------


def rewrite_first_bullet(text: str) -> Change:
    def change(document: ResumeDocument) -> ResumeDocument:
        entry = document.experience[0]
        lines = (replace(entry.lines[0], text=text), *entry.lines[1:])
        return replace(document, experience=(replace(entry, lines=lines), *document.experience[1:]))

    return change


def inflate_numbers(document: ResumeDocument) -> ResumeDocument:
    entry = document.experience[0]
    lines = tuple(replace(line, text=line.text + " Cut costs by 97%.") for line in entry.lines)
    return replace(document, experience=(replace(entry, lines=lines), *document.experience[1:]))


def add_skill(document: ResumeDocument) -> ResumeDocument:
    return replace(document, skills=(*document.skills, SkillLine("Languages", (Line("COBOL", ("skill-1",)),))))


def promote(document: ResumeDocument) -> ResumeDocument:
    entry = replace(document.experience[0], title="Chief Technology Officer")
    return replace(document, experience=(entry, *document.experience[1:]))


def change_contact(document: ResumeDocument) -> ResumeDocument:
    return replace(document, contacts=(ContactLine("someone.else@example.net", "mailto:someone.else@example.net"),))


@pytest.mark.parametrize(
    "change",
    [
        rewrite_first_bullet("Led forty engineers at a company that never existed."),
        inflate_numbers,
        add_skill,
        promote,
        change_contact,
        lambda document: replace(document, name="Someone Else"),
        lambda document: replace(document, summary=(Line("A visionary leader of nine unicorns.", ("summary",)),)),
    ],
    ids=["bullet", "numbers", "skill", "position", "contact", "name", "summary"],
)
def test_it_refuses_what_a_generator_invents(
    change: Change, scored: UUID, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    monkeypatch.setitem(engines.TAILORS, "builtin", lambda request: change(engines.tailor_with_builtin(request)))

    report = work(scored, "tailor")

    assert (report.state, report.code) == ("failed", "NOT_GROUNDED")
    row = get_stage_row(scored, "tailor")
    assert (row.retryable, row.attempts) == (False, 1)
    assert not TailoredResume.objects.exists()
    [failed] = list_events("ResumeFailed")
    assert failed == {"jobId": str(scored), "errorCode": "NOT_GROUNDED", "retryable": False}
    assert list_events("ResumeApproved", "BulletProvenanceRecorded") == []
    cover = get_stage_row(scored, "cover")
    assert (cover.state, cover.reason_code, cover.blocked_by) == ("blocked", "UPSTREAM_FAILED", "tailor")
    assert work(scored, "tailor", attempt=2).code == "NOT_GROUNDED"
    assert get_stage_row(scored, "tailor").attempts == 1
    assert_rebuild_matches()


def test_it_says_no_word_of_the_document_when_an_engine_breaks(
    scored: UUID, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    def explode(request: engines.WritingRequest) -> ResumeDocument:
        raise ValueError(f"{request.profile.name} {request.profile.email}")

    monkeypatch.setitem(engines.TAILORS, "builtin", explode)

    report = work(scored, "tailor")

    assert report.code == "INTERNAL_ERROR"
    assert "Krüger" not in str(list_events()) and "anais" not in get_stage_row(scored, "tailor").error_message
    assert [event["retryable"] for event in list_events("ResumeFailed")] == [True]
    assert_rebuild_matches()


# --- what is not tailored ----------------------------------------------------------------------


def test_it_writes_nothing_for_a_posting_it_does_not_trust(scored: UUID, assert_rebuild_matches: Check) -> None:
    distrust(scored)

    report = work(scored, "tailor")

    assert (report.state, report.code) == ("blocked", "LOW_CONFIDENCE")
    row, cover = get_stage_row(scored, "tailor"), get_stage_row(scored, "cover")
    assert (row.blocked_by, row.attempts) == ("enrich", 0)
    assert (cover.state, cover.blocked_by) == ("blocked", "tailor")
    assert not TailoredResume.objects.exists()
    assert_rebuild_matches()


def test_it_goes_on_once_the_posting_is_trusted(scored: UUID, assert_rebuild_matches: Check) -> None:
    distrust(scored)
    work(scored, "tailor")

    reset_stages(StageName.ENRICH, [scored])
    work_through(scored, "enrich", "tailor", "cover", run="run-2")
    assert_rebuild_matches()


def test_it_keeps_to_a_threshold_that_was_raised_since(assert_rebuild_matches: Check) -> None:
    import_profile(SAMPLE.read_bytes())
    half = add_job(replace(BACKEND, external_id="R-9", description=DUTIES + "You know COBOL.\nYou know SAP ABAP.\n"))
    work_through(half, "enrich")
    change_settings({"min_fit_score": 1}, actor="test")
    work_through(half, "score")
    change_settings({"min_fit_score": 10}, actor="test")

    report = work(half, "tailor")

    assert (report.state, report.code) == ("skipped", "MIN_SCORE")
    assert not TailoredResume.objects.filter(job_id=half).exists()
    assert_rebuild_matches()


def test_it_waits_for_the_score(assert_rebuild_matches: Check) -> None:
    import_profile(SAMPLE.read_bytes())
    job_id = add_job()
    work_through(job_id, "enrich")

    assert work(job_id, "tailor").code == "WAITS_FOR_SCORE"
    assert_rebuild_matches()


# --- every sample candidate, every bundled posting ---------------------------------------------


@pytest.mark.parametrize(
    "name", ["jsonresume-senior-engineer.json", "jsonresume-new-grad.json", "jrs-v0-richard-hendriks.json"]
)
def test_it_prepares_the_sample_people_for_the_bundled_postings(name: str, assert_rebuild_matches: Check) -> None:
    import_profile(require_shared(f"resume/{name}").read_bytes())
    change_settings({"min_fit_score": 1}, actor="test")
    sources = register_bundled_sources()
    plan_run(FIRST_RUN)
    for source_id in sources:
        assert crawl_source(FIRST_RUN, source_id, attempt=1, is_cancelled=lambda: False) is None

    ended: dict[str, str] = {}
    for job in Job.objects.exclude(active_state="closed"):
        if work(job.id, "enrich").state != "succeeded":
            continue
        for stage in ("score", "tailor", "cover"):
            report = work(job.id, stage)
            if report.state == "succeeded":
                continue
            if report.code not in ("POSTING_CLOSED", "LOW_CONFIDENCE"):
                ended[f"{job.title} at {job.company}"] = f"{stage}: {report.state} {report.code}"
            break

    assert ended == {}
    assert TailoredResume.objects.count() >= 2
    assert_rebuild_matches()
