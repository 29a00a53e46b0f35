"""Reads of the jobs' list and detail rows."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from operations.models import JobDetailProjection, JobListProjection


def find_job(job_id: UUID) -> JobListProjection | None:
    """A job's list row with its detail row as ``detail``; two index lookups."""
    row: Any = JobListProjection.objects.filter(job_id=job_id).first()
    if row is not None:
        row.detail = JobDetailProjection.objects.filter(job_id=job_id).first() or JobDetailProjection(job_id=job_id)
    return row  # type: ignore[no-any-return]


def find_timeline(job_id: UUID) -> dict[str, Any]:
    """A job's stages with attempts and reasons, from its detail row; empty where it has none."""
    return JobDetailProjection.objects.filter(job_id=job_id).values_list("stages_json", flat=True).first() or {}


def list_top_jobs(limit: int = 10) -> list[dict[str, Any]]:
    """The best scored visible jobs, straight from the default list's index."""
    rows = JobListProjection.objects.filter(deleted=False, hidden=False, fit_score__isnull=False)
    fields = ("job_id", "title", "company", "location", "fit_score", "has_documents", "stages_json")
    ordered = rows.order_by("-sort_score", "-discovered_at", "-job_id")
    return list(ordered.values(*fields)[:limit])


def list_unknown_jobs(job_ids: Sequence[UUID]) -> list[UUID]:
    known = set(JobListProjection.objects.filter(job_id__in=job_ids).values_list("job_id", flat=True))
    return [job_id for job_id in job_ids if job_id not in known]


def map_job_titles(job_ids: Sequence[UUID]) -> dict[UUID | None, str]:
    """Titles of a page's jobs; one index lookup."""
    rows = JobListProjection.objects.filter(job_id__in=set(job_ids)).values_list("job_id", "title")
    return dict(rows)


def map_job_names(job_ids: Sequence[UUID]) -> dict[UUID | None, tuple[str, str]]:
    """Title and company of a page's jobs; one index lookup."""
    rows = JobListProjection.objects.filter(job_id__in=set(job_ids)).values_list("job_id", "title", "company")
    return {job_id: (title, company) for job_id, title, company in rows}


def list_jobs_scored_between(low: int, high: int) -> list[tuple[UUID, int]]:
    """(job id, score) of every job with a score in the range, hidden and deleted ones too."""
    rows = JobListProjection.objects.filter(sort_score__gte=low, sort_score__lte=high)
    return list(rows.order_by("job_id").values_list("job_id", "sort_score"))
