"""Reads of scoring for the apps above it."""

from dataclasses import dataclass
from uuid import UUID

from operations.documents import load_document
from operations.errors import MissingInput
from scoring.contracts import FitReport
from scoring.models import JobScore


@dataclass(frozen=True, slots=True)
class CurrentScore:
    """The newest score of a job, with the report that documents are tailored from."""

    version: int
    value: int
    band: str
    profile_version: int
    report: FitReport


def find_score_version(job_id: UUID) -> int:
    return JobScore.objects.filter(job_id=job_id).order_by("-version").values_list("version", flat=True).first() or 0


def get_score(job_id: UUID) -> CurrentScore:
    """Raises ``MissingInput`` where the job has no score yet."""
    row = JobScore.objects.filter(job_id=job_id).order_by("-version").first()
    if row is None:
        raise MissingInput("This job has no score yet; score it first.")
    return CurrentScore(row.version, row.value, row.band, row.profile_version, load_document(FitReport, row.report))


def find_score_value(job_id: UUID) -> int | None:
    return JobScore.objects.filter(job_id=job_id).order_by("-version").values_list("value", flat=True).first()
