"""Storing an analysis and its score."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from operations.compiled import CompiledInsert
from operations.database import require_write
from operations.documents import dump_document
from operations.eventlog import append
from scoring.contracts import Analysis, FitReport, Score
from scoring.events import EmployerAnalyzed, JobScored
from scoring.models import JobScore, PostingAnalysis
from scoring.queries import find_analysis_version, find_score_version

_INSERT_ANALYSIS = CompiledInsert(PostingAnalysis)
_INSERT_SCORE = CompiledInsert(JobScore)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What one scoring attempt found, and from what. ``analysis_version`` 0 = the analysis is not stored yet."""

    report: FitReport
    score: Score
    analysis: Analysis
    profile_version: int
    snapshot_version: int
    analysis_version: int = 0


def save_analysis(job_id: UUID, found: Analysis, *, snapshot_version: int) -> int:
    """Append an analysis and its event inside ``writer()``; returns its version."""
    require_write()
    version = find_analysis_version(job_id) + 1
    _INSERT_ANALYSIS.run(
        tenant_id=settings.TENANT_ID,
        job_id=job_id,
        version=version,
        snapshot_version=snapshot_version,
        engine=found.engine,
        requirements=[dump_document(requirement) for requirement in found.requirements],
        warnings=list(found.warnings),
        dropped=found.dropped,
        analyzed_at=timezone.now(),
    )
    append(
        EmployerAnalyzed(
            job_id=job_id,
            version=version,
            engine=found.engine,
            requirements=len(found.requirements),
            warnings=found.warnings,
        )
    )
    return version


def save_score(job_id: UUID, found: Assessment) -> int:
    """Append the score, its analysis where that is not stored yet, and their events inside ``writer()``.

    Returns the score's version.
    """
    require_write()
    analysis_version = found.analysis_version or save_analysis(
        job_id,
        replace(found.analysis, warnings=found.report.warnings),
        snapshot_version=found.snapshot_version,
    )
    now = timezone.now()
    version = find_score_version(job_id) + 1
    _INSERT_SCORE.run(
        tenant_id=settings.TENANT_ID,
        job_id=job_id,
        version=version,
        value=found.score.value,
        band=found.score.band,
        awarded=found.score.awarded,
        possible=found.score.possible,
        blocked=found.score.blocked,
        report=dump_document(found.report),
        engine=found.report.engine,
        profile_version=found.profile_version,
        snapshot_version=found.snapshot_version,
        analysis_version=analysis_version,
        scored_at=now,
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
