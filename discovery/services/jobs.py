"""Hiding and deleting jobs. Nothing is lost: deleting only takes a job out of every list and stops its work."""

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from discovery.events import JobDeleted, JobHidden, JobRestored, JobUnhidden
from discovery.models import Job
from operations.database import writer
from operations.eventlog import JobEvent, append
from operations.services.stages import void_leases


def set_hidden(job_ids: Sequence[UUID], *, hidden: bool) -> list[UUID]:
    """Returns the jobs that changed."""
    build: Callable[[UUID], JobEvent] = (
        (lambda job_id: JobHidden(job_id=job_id)) if hidden else (lambda job_id: JobUnhidden(job_id=job_id))
    )
    with writer():
        changed = list(Job.objects.filter(id__in=job_ids, hidden=not hidden).values_list("id", flat=True))
        Job.objects.filter(id__in=changed).update(hidden=hidden, updated_at=timezone.now())
        for job_id in changed:
            append(build(job_id))
    return changed


def delete_jobs(job_ids: Sequence[UUID]) -> list[UUID]:
    """Take jobs out of every list; what runs for them loses its lease and publishes nothing."""
    now: datetime = timezone.now()
    with writer():
        changed = list(Job.objects.filter(id__in=job_ids, deleted_at__isnull=True).values_list("id", flat=True))
        Job.objects.filter(id__in=changed).update(deleted_at=now, updated_at=now)
        for job_id in changed:
            void_leases(job_id)
            append(JobDeleted(job_id=job_id))
    return changed


def restore_jobs(job_ids: Sequence[UUID]) -> list[UUID]:
    with writer():
        changed = list(Job.objects.filter(id__in=job_ids, deleted_at__isnull=False).values_list("id", flat=True))
        Job.objects.filter(id__in=changed).update(deleted_at=None, updated_at=timezone.now())
        for job_id in changed:
            append(JobRestored(job_id=job_id))
    return changed
