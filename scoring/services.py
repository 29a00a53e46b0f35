"""Storing an analysis and its score."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from operations.database import require_write
from operations.documents import dump_document
from operations.eventlog import append
from scoring.contracts import FitReport, Score
from scoring.events import EmployerAnalyzed, JobScored
from scoring.models import JobScore, PostingAnalysis
from scoring.queries import find_score_version


@dataclass(frozen=True, slots=True)
class Assessment:
    """What one scoring attempt found, and from what."""

    report: FitReport
    score: Score
    engine: str
    profile_version: int
    snapshot_version: int


def save_score(job_id: UUID, found: Assessment) -> int:
    """Append the analysis, the score and their events inside ``writer()``; returns the score's version."""
    require_write()
    now = timezone.now()
    version = find_score_version(job_id) + 1
    requirements = [item.requirement for item in found.report.items]
    PostingAnalysis.objects.create(
        tenant_id=settings.TENANT_ID,
        job_id=job_id,
        version=version,
        snapshot_version=found.snapshot_version,
        engine=found.engine,
        requirements=[dump_document(requirement) for requirement in requirements],
        warnings=list(found.report.warnings),
        analyzed_at=now,
    )
    JobScore.objects.create(
        tenant_id=settings.TENANT_ID,
        job_id=job_id,
        version=version,
        value=found.score.value,
        band=found.score.band,
        awarded=found.score.awarded,
        possible=found.score.possible,
        blocked=found.score.blocked,
        report=dump_document(found.report),
        engine=found.engine,
        profile_version=found.profile_version,
        snapshot_version=found.snapshot_version,
        analysis_version=version,
        scored_at=now,
    )
    append(
        EmployerAnalyzed(
            job_id=job_id,
            version=version,
            engine=found.engine,
            requirements=len(requirements),
            warnings=tuple(found.report.warnings),
        )
    )
    append(
        JobScored(
            job_id=job_id,
            fit_score=found.score.value,
            version=version,
            band=found.score.band,
            blocked=found.score.blocked,
            summary=count_verdicts(found.report),
            profile_version=found.profile_version,
            scored_at=now,
        )
    )
    return version


def count_verdicts(report: FitReport) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in report.items:
        counts[item.fit.value] = counts.get(item.fit.value, 0) + 1
    return counts
