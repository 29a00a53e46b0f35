"""A synthetic workspace of any size, written by the product's own services; the same every time but for ids and times.

About 15 events a job: every job is found, observed and enriched; of ten, three wait there, four are scored below the
line and three are prepared to their documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from uuid import UUID

from discovery.contracts import ActiveState as Active
from discovery.contracts import ContentTier, PageContent, PayPeriod, Posting, ProfileDocument, Salary, WorkMode
from materials.artifact_files import StoredFile
from materials.contracts import LetterDocument, ResumeDocument
from materials.services import LetterDraft, RenderedFile, RenderedSet, TailoredDraft
from operations.contracts import ExecutionRef, RunStatus, StageName, StepKind, WorkflowOutcome, WorkflowStart
from operations.stage_engine import Claim, Owner, claim_stage, publish_stage
from scoring.contracts import Analysis, Band, FitReport, Score
from scoring.services import Assessment

BATCH = 50
RUN_JOBS = 500
SOURCES = 20
FIRST_POSTED = datetime(2026, 1, 5, 9, tzinfo=UTC)

ROLES = ("Backend Engineer", "Data Engineer", "Platform Engineer", "Site Reliability Engineer", "Python Developer",
         "Machine Learning Engineer", "Engineering Manager", "Product Analyst", "Solutions Architect", "QA Engineer")  # fmt: skip
GRADES = ("", "Senior ", "Staff ", "Lead ", "Junior ", "Principal ")
PLACES = ("Berlin", "Lisbon", "Toronto", "Austin", "Tokyo", "Bristol", "Warsaw", "Nairobi")
SKILLS = ("Python", "Django", "PostgreSQL", "Kubernetes", "Kafka", "TypeScript", "React", "Terraform", "AWS", "Go",
          "Airflow", "Spark", "Docker", "GraphQL", "Redis", "SQL")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the stages publish, made once by the built-in engines: real in shape and size."""

    analysis: Analysis
    report: FitReport
    resume: ResumeDocument
    letter: LetterDocument


def build_posting(number: int, *, kind: str = "greenhouse") -> Posting:
    title = f"{GRADES[number % 6]}{ROLES[number // 6 % 10]}"
    company = f"Company {number // 60 % 400 + 1}"
    board = f"board-{number % SOURCES}"
    url = f"https://boards.example.com/{board}/jobs/{number}"
    return Posting(
        kind=kind,
        board=board,
        external_id=f"{number:07d}",
        title=title,
        company=company,
        url=url,
        apply_url=f"{url}/apply",
        location=PLACES[number % 8],
        places=(PLACES[number % 8],),
        mode=(WorkMode.REMOTE, WorkMode.HYBRID, WorkMode.ONSITE)[number % 3],
        employment_type="full_time",
        department="Engineering",
        salary=Salary(None, None, "", PayPeriod.UNKNOWN) if number % 4 else None,
        posted_at=FIRST_POSTED + timedelta(minutes=number % 40_000),
        language="en",
        description=write_description(number, title, company),
    )


def write_description(number: int, title: str, company: str) -> str:
    """About 1,500 characters, different for every number."""
    wanted = [SKILLS[(number * 7 + step * 5) % 16] for step in range(5)]
    team = f"team {number} of {company}"
    return "\n".join(
        (
            f"{company} is looking for a {title} to join {team}.",
            "",
            "What you will do",
            *(
                f"- Design, build and run services in {skill} for {team}, from the first note to on-call."
                for skill in wanted
            ),
            "",
            "What you bring",
            *(f"- {2 + (number + step) % 6}+ years of experience with {skill}." for step, skill in enumerate(wanted)),
            "- Clear written English and a habit of testing what you change.",
            "",
            "Nice to have",
            f"- Some {SKILLS[(number + 3) % 16]} or {SKILLS[(number + 9) % 16]}.",
            "",
            f"Reference {number:07d}. We answer every application within two weeks and pay for the time of a trial task.",
        )
    )


def seed_workspace(jobs: int) -> None:
    """Fill an empty, migrated database; raises where it is not empty."""
    from operations.eventlog import read_head

    if read_head():
        raise RuntimeError("only an empty database is seeded")
    version = import_sample_profile()
    prepared = prepare_documents(version)
    for start in range(0, jobs, RUN_JOBS):
        seed_run(range(start, min(start + RUN_JOBS, jobs)), profile_version=version, prepared=prepared)


def import_sample_profile() -> int:
    from django.conf import settings

    from discovery.services.profiles import import_profile

    sample = Path(settings.BASE_DIR) / "discovery" / "sample_profile.json"
    return import_profile(sample.read_bytes()).version


def prepare_documents(profile_version: int) -> Prepared:
    from discovery.queries import get_profile
    from materials.engines import WritingRequest, tailor_with_builtin, write_with_builtin
    from scoring.engines import AssessmentRequest, analyze_with_builtin, judge_with_builtin

    profile: ProfileDocument = get_profile(profile_version)
    posting = build_posting(0)
    asked = AssessmentRequest(posting.title, posting.description, profile, date(2026, 1, 5))
    analysis = analyze_with_builtin(asked)
    report = judge_with_builtin(asked, analysis)
    request = WritingRequest(profile, report, posting.title, posting.company, posting.description, "2026-01-05")
    return Prepared(analysis, report, tailor_with_builtin(request), write_with_builtin(request))


def seed_run(numbers: Sequence[int], *, profile_version: int, prepared: Prepared) -> None:
    """One discovery over 500 postings with what follows from it, 50 jobs to a transaction."""
    from discovery.services.postings import record_postings
    from operations.database import writer
    from operations.services.runs import record_dispatched, record_outcome, record_started
    from operations.services.steps import complete_step, start_step

    ref = ExecutionRef("local", "discover-local", f"seed-run-{numbers[0]:07d}")
    start = WorkflowStart(ref.workflow_id, ref.run_id, "DiscoverWorkflow", {"families": "greenhouse"})
    with writer():
        record_dispatched(start)
        record_started(start)
        start_step(ref, StepKind.SOURCE_FAMILY, item_key="greenhouse")
    by_board: dict[str, list[Posting]] = {}
    for number in numbers:
        posting = build_posting(number)
        by_board.setdefault(posting.board, []).append(posting)
    with writer():
        for board, postings in by_board.items():
            record_postings(f"greenhouse:{board}", postings, execution_ref=ref)
    ids = find_job_ids(numbers)
    with writer():
        complete_step(ref, StepKind.SOURCE_FAMILY, item_key="greenhouse", counts={"new": len(numbers)})
    for first in range(0, len(numbers), BATCH):
        with writer():
            for number in numbers[first : first + BATCH]:
                publish_content(ids[number], build_posting(number), ref, profile_version)
    for first in range(0, len(numbers), BATCH):
        with writer():
            for number in numbers[first : first + BATCH]:
                if number % 10 >= 3:
                    prepare_job(ids[number], number, ref, profile_version, prepared)
    with writer():
        record_outcome(
            WorkflowOutcome(
                ref.workflow_id, ref.run_id, "DiscoverWorkflow", RunStatus.SUCCEEDED, result={"new": str(len(numbers))}
            )
        )


def find_job_ids(numbers: Sequence[int]) -> dict[int, UUID]:
    from discovery.models import Job

    wanted = [f"{number:07d}" for number in numbers]
    rows = Job.objects.filter(external_id__in=wanted).values_list("external_id", "id")
    return {int(external_id): job_id for external_id, job_id in rows}


def publish_content(job_id: UUID, posting: Posting, ref: ExecutionRef, profile_version: int) -> None:
    content = PageContent(
        ContentTier.SOURCE_PAYLOAD,
        posting.title,
        posting.company,
        posting.description,
        posting.apply_url,
        posting.location,
        active=Active.ACTIVE,
    )
    owner = Owner(ref.workflow_id, ref.run_id)
    publish_stage(take_claim(job_id, StageName.ENRICH, owner, ref, profile_version), content)


def prepare_job(job_id: UUID, number: int, ref: ExecutionRef, profile_version: int, prepared: Prepared) -> None:
    """One preparation: below the line it ends after the score, which skips what would follow."""
    from operations.services.runs import record_dispatched, record_outcome, record_started
    from operations.services.steps import start_step

    owner = Owner(f"prep-{number:07d}", f"seed-prep-{number:07d}")
    start = WorkflowStart(
        owner.workflow_id, owner.run_id, "JobPreparationWorkflow", {"jobId": str(job_id), "kind": "prepare"}
    )
    record_dispatched(start)
    record_started(start)
    wanted = number % 10 >= 7
    score = Score(8, Band.STRONG, 21.5, 26.0, False) if wanted else Score(4, Band.PLAUSIBLE, 10.5, 26.0, False)
    claim = take_claim(job_id, StageName.SCORE, owner, ref, profile_version)
    publish_stage(claim, Assessment(prepared.report, score, prepared.analysis, profile_version, 1))
    if wanted:
        claim = take_claim(job_id, StageName.TAILOR, owner, ref, profile_version)
        publish_stage(claim, TailoredDraft(prepared.resume, "builtin", profile_version, 1))
        claim = take_claim(job_id, StageName.COVER, owner, ref, profile_version)
        publish_stage(claim, LetterDraft(prepared.letter, "builtin", profile_version, 1))
        claim = take_claim(job_id, StageName.PDF, owner, ref, profile_version)
        start_step(ref, StepKind.PDF_RENDER, item_key=str(job_id))
        publish_stage(claim, build_rendered(number))
    facts = {"completed": "score,tailor,cover,pdf" if wanted else "score"}
    record_outcome(
        WorkflowOutcome(owner.workflow_id, owner.run_id, "JobPreparationWorkflow", RunStatus.SUCCEEDED, result=facts)
    )


def take_claim(job_id: UUID, stage: StageName, owner: Owner, ref: ExecutionRef, profile_version: int) -> Claim:
    claim = claim_stage(job_id, stage, owner=owner, profile_version=profile_version, execution_ref=ref)
    if not isinstance(claim, Claim):
        raise RuntimeError(f"{stage} of {job_id} was refused: {claim.code}")
    return claim


def build_rendered(number: int) -> RenderedSet:
    """The rows of two files; the files themselves are not written."""
    files = []
    for position, kind in enumerate(("resume_pdf", "letter_pdf")):
        digest = f"{number * 2 + position:064x}"
        files.append(RenderedFile(kind, StoredFile(digest, 40_000, f"{digest[:2]}/{digest}.pdf"), 1, "modern/a4"))
    return RenderedSet(tuple(files), 1, 1)
