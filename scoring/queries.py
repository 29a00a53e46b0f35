"""Reads of scoring for the apps above it."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import UUIDField

from operations.compiled import CompiledQuery
from operations.documents import load_document
from operations.errors import MissingInput
from scoring.contracts import Analysis, FitReport, Requirement
from scoring.models import JobScore, PostingAnalysis

_SCORE = CompiledQuery(lambda job_id: JobScore.objects.filter(job_id=job_id).order_by("-version")[:1], UUIDField())
_SCORE_FACTS = CompiledQuery(
    lambda job_id: JobScore.objects.filter(job_id=job_id).order_by("-version").values_list("version", "value")[:1],
    UUIDField(),
)
_ANALYSIS_VERSION = CompiledQuery(
    lambda job_id: (
        PostingAnalysis.objects.filter(job_id=job_id).order_by("-version").values_list("version", flat=True)[:1]
    ),
    UUIDField(),
)


@dataclass(frozen=True, slots=True)
class CurrentScore:
    """The newest score of a job, with the report that documents are tailored from."""

    version: int
    value: int
    band: str
    engine: str
    profile_version: int
    report: FitReport


def find_skills(text: str) -> tuple[str, ...]:
    """The vocabulary's names of the skills in a text, in the order in which it first mentions them."""
    from scoring import builtin

    return builtin.find_skills(text)


def list_implied_skills(name: str) -> frozenset[str]:
    """What knowing a skill shows as well: Django implies Python."""
    from scoring import builtin

    return builtin.list_implied_skills(name)


def find_score_version(job_id: UUID) -> int:
    version, _ = _SCORE_FACTS.first(job_id) or (0, None)
    return version


def get_score(job_id: UUID) -> CurrentScore:
    """Raises ``MissingInput`` where the job has no score yet."""
    score = find_score(job_id)
    if score is None:
        raise MissingInput("This job has no score yet; score it first.")
    return score


def find_score(job_id: UUID) -> CurrentScore | None:
    row = _SCORE.first(job_id)
    if row is None:
        return None
    report = load_document(FitReport, row.report)
    return CurrentScore(row.version, row.value, row.band, row.engine, row.profile_version, report)


def find_analysis_version(job_id: UUID) -> int:
    return _ANALYSIS_VERSION.first(job_id) or 0


@dataclass(frozen=True, slots=True)
class KeptAnalysis:
    version: int
    analysis: Analysis


def find_kept_analysis(job_id: UUID, *, snapshot_version: int, engine: str) -> KeptAnalysis | None:
    """What this engine found in this very content before, so that it is not asked, and paid, for it again."""
    rows = PostingAnalysis.objects.filter(job_id=job_id, snapshot_version=snapshot_version, engine=engine)
    row = rows.order_by("-version").first()
    if row is None:
        return None
    requirements = tuple(load_document(Requirement, asked) for asked in row.requirements)
    return KeptAnalysis(row.version, Analysis(requirements, row.engine, tuple(row.warnings), row.dropped))


def find_score_value(job_id: UUID) -> int | None:
    _, value = _SCORE_FACTS.first(job_id) or (0, None)
    return value
