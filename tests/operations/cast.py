"""The cast of the engine's tests: a candidate, two employers with four postings, and stages that follow a script."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from discovery.contracts import Posting
from discovery.events import JobEnriched
from discovery.models import Job
from discovery.services.postings import record_postings
from materials.events import CoverLetterGenerated, PdfRendered, ResumeApproved
from operations.contracts import StageName, StageState
from operations.eventlog import JobEvent, append
from operations.models import JobEventRow, JobStageState
from operations.stage_engine import Claim, Owner, Refusal, Settlement, Stage, claim_stage
from scoring.events import JobScored

CANDIDATE = "Mara Lindqvist"
PROFILE_VERSION = 1
FIRST_RUN = Owner("prep-first", "run-first")
SECOND_RUN = Owner("prep-second", "run-second")


@dataclass(frozen=True, slots=True)
class Cast:
    """The four jobs: two of Harbour Analytics, two of Juniper Foods."""

    backend: UUID
    data: UUID
    sales: UUID
    office: UUID

    def __iter__(self) -> Iterator[UUID]:
        return iter((self.backend, self.data, self.sales, self.office))


def build_posting(number: str, title: str, company: str) -> Posting:
    board = company.split()[0].lower()
    return Posting("greenhouse", board, number, title, company, f"https://{board}.example/jobs/{number}")


def record_cast() -> Cast:
    """Through discovery's own service, so that jobs, stage rows and events are the product's."""
    postings = [
        build_posting("1", "Backend Engineer", "Harbour Analytics"),
        build_posting("2", "Data Engineer", "Harbour Analytics"),
        build_posting("3", "Sales Lead", "Juniper Foods"),
        build_posting("4", "Office Manager", "Juniper Foods"),
    ]
    for board in (postings[:2], postings[2:]):
        record_postings(f"greenhouse:{board[0].board}", board, execution_ref=None)
    ids = dict(Job.objects.values_list("external_id", "id"))
    return Cast(ids["1"], ids["2"], ids["3"], ids["4"])


def _score(job_id: UUID, version: int) -> JobEvent:
    return JobScored(
        job_id=job_id,
        fit_score=8,
        version=version,
        band="strong",
        blocked=False,
        summary={"direct": 3},
        profile_version=PROFILE_VERSION,
        scored_at=timezone.now(),
    )


RESULTS: dict[StageName, Callable[[UUID, int], JobEvent]] = {
    StageName.ENRICH: lambda job_id, version: JobEnriched(
        job_id=job_id, snapshot_version=version, tier="source_payload", confidence="high", quarantined=False
    ),
    StageName.SCORE: _score,
    StageName.TAILOR: lambda job_id, version: ResumeApproved(
        job_id=job_id, version=version, engine="scripted", profile_version=PROFILE_VERSION, score_version=1
    ),
    StageName.COVER: lambda job_id, version: CoverLetterGenerated(
        job_id=job_id, version=version, engine="scripted", resume_version=1
    ),
    StageName.PDF: lambda job_id, version: PdfRendered(
        job_id=job_id, artifacts={}, resume_version=1, letter_version=1, pages=2
    ),
}


class ScriptedStage(Stage):
    """A stage whose ``run`` raises or returns what the test wrote down; a result is one event of the real type."""

    def __init__(self, name: StageName, *, max_attempts: int = 5) -> None:
        self.name, self.lanes, self.max_attempts = name, (), max_attempts  # type: ignore[misc]
        self.script: list[object] = []
        self.settlement = Settlement()
        self.refusal: Refusal | None = None
        self.runs: list[Claim] = []

    def find_refusal(self, job_id: UUID, *, profile_version: int) -> Refusal | None:
        return self.refusal

    def find_result_version(self, job_id: UUID) -> int:
        return JobEventRow.objects.filter(job_id=job_id, event_type=RESULTS[self.name](job_id, 1).type_name).count()

    def run(self, claim: Claim, *, is_cancelled: Callable[[], bool]) -> Any:
        self.runs.append(claim)
        step = self.script.pop(0) if self.script else "result"
        if isinstance(step, BaseException):
            raise step
        return step(claim) if callable(step) else step

    def publish(self, claim: Claim, result: Any) -> Settlement:
        self.save_result(claim.job_id)
        return self.settlement

    def save_result(self, job_id: UUID) -> None:
        append(RESULTS[self.name](job_id, self.find_result_version(job_id) + 1))


def get_row(job_id: UUID, stage: StageName) -> JobStageState:
    return JobStageState.objects.get(job_id=job_id, stage=stage)


def put_row(job_id: UUID, stage: StageName, state: StageState, **values: object) -> None:
    """A row as history could have left it; no event, so use it where projections are not compared."""
    JobStageState.objects.update_or_create(
        job_id=job_id, stage=stage, defaults={"state": state, "updated_at": timezone.now(), **values}
    )


def claim(job_id: UUID, stage: StageName, owner: Owner = FIRST_RUN) -> Claim:
    """A claim that must be given."""
    given = claim_stage(job_id, stage, owner=owner, profile_version=PROFILE_VERSION)
    assert isinstance(given, Claim), given
    return given


def refuse(job_id: UUID, stage: StageName, owner: Owner = FIRST_RUN) -> Refusal:
    """A claim that must be refused."""
    given = claim_stage(job_id, stage, owner=owner, profile_version=PROFILE_VERSION)
    assert isinstance(given, Refusal), given
    return given


def list_types(after: int = 0, job_id: UUID | None = None) -> list[str]:
    rows = JobEventRow.objects.filter(id__gt=after, **({"job_id": job_id} if job_id else {}))
    return list(rows.order_by("id").values_list("event_type", flat=True))
