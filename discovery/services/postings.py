"""Accepting postings: identity, sightings, enrolment and events, in batches."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import Count
from django.utils import timezone

from discovery.contracts import ActiveState, Posting
from discovery.events import JobActiveStateChanged, JobDiscovered, JobSourceObserved, JobUpdated
from discovery.identity import company_key, title_key
from discovery.models import Job, JobSourceObservation
from discovery.salary import find_salary
from operations.contracts import Cohort, ExecutionRef
from operations.database import writer
from operations.eventlog import append
from operations.services.executions import link_jobs
from operations.services.stages import enroll_jobs

BATCH = 50
URL_IN_EVENTS = 400


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How many postings were new, known and changed."""

    new: int = 0
    existing: int = 0
    updated: int = 0

    def __add__(self, other: "Acceptance") -> "Acceptance":
        return Acceptance(self.new + other.new, self.existing + other.existing, self.updated + other.updated)


def record_postings(source_id: str, postings: Sequence[Posting], *, execution_ref: ExecutionRef | None) -> Acceptance:
    """Accept postings of one source; repeating it adds no second job and no second event.

    Each batch of 50 is one transaction: jobs, stage rows, sightings, membership and events together.
    """
    total = Acceptance()
    unique = {(p.kind, p.board, p.external_id): p for p in postings}
    rows = list(unique.values())
    for start in range(0, len(rows), BATCH):
        total += _record_batch(source_id, rows[start : start + BATCH], execution_ref)
    return total


def _record_batch(source_id: str, postings: Sequence[Posting], ref: ExecutionRef | None) -> Acceptance:
    hashes = {posting.external_id: hash_posting(posting) for posting in postings}
    with writer():
        now = timezone.now()
        known = {
            job.external_id: job
            for job in Job.objects.filter(
                kind=postings[0].kind, board=postings[0].board, external_id__in=[p.external_id for p in postings]
            )
        }
        new = [p for p in postings if p.external_id not in known]
        created = {p.external_id: _build_job(p, hashes[p.external_id], now) for p in new}
        Job.objects.bulk_create(created.values())
        enroll_jobs(job.id for job in created.values())
        for posting in new:
            job = created[posting.external_id]
            append(_describe_new(job, source_id), key=f"job:{job.id}:discovered")
            if job.active_state != ActiveState.ACTIVE:
                append(_describe_state(job, ActiveState.ACTIVE))
        updated = 0
        for posting in postings:
            before = known.get(posting.external_id)
            if before is not None and before.content_hash != hashes[posting.external_id]:
                _update_job(before, posting, hashes[posting.external_id], now)
                updated += 1
        jobs = {**known, **created}
        _observe(source_id, {external: job.id for external, job in jobs.items()}, ref, now)
        if ref is not None:
            visible = [job.id for job in jobs.values() if job.deleted_at is None]
            link_jobs(ref, visible, cohort=Cohort.OBSERVED_THIS_RUN)
    return Acceptance(len(new), len(known), updated)


def hash_posting(posting: Posting) -> str:
    """SHA-256 over everything the posting says, but for when it was touched."""
    body = asdict(posting)
    body.pop("updated_at")
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str, ensure_ascii=False).encode()).hexdigest()


def _build_job(posting: Posting, content_hash: str, now: datetime) -> Job:
    job = Job(
        id=uuid4(),
        tenant_id=settings.TENANT_ID,
        kind=posting.kind,
        board=posting.board,
        external_id=posting.external_id,
        created_at=now,
    )
    _copy(job, posting, content_hash, now)
    return job


def _copy(job: Job, posting: Posting, content_hash: str, now: datetime) -> None:
    salary = posting.salary or find_salary(posting.description)
    job.title, job.company = posting.title[:300], posting.company[:200]
    job.location, job.places = posting.location[:200], list(posting.places)
    job.country, job.mode = posting.country[:2], posting.mode
    job.remote_eligibility = posting.remote_eligibility[:200]
    job.employment_type, job.department = posting.employment_type[:60], posting.department[:120]
    job.language, job.url, job.apply_url = posting.language[:10], posting.url, posting.apply_url
    job.salary_minimum = salary.minimum if salary else None
    job.salary_maximum = salary.maximum if salary else None
    job.salary_currency = salary.currency if salary else ""
    if salary:
        job.salary_period = salary.period
        job.salary_note = salary.note[:120]
    job.source_description = posting.description
    job.content_hash = content_hash
    job.title_key, job.company_key = title_key(posting.title)[:300], company_key(posting.company)[:200]
    job.posted_at, job.source_updated_at, job.closes_at = posting.posted_at, posting.updated_at, posting.closes_at
    job.updated_at = now
    if posting.closes_at is not None and posting.closes_at < now:
        job.active_state, job.active_evidence = ActiveState.CLOSED, "closing_date_passed"


def _update_job(job: Job, posting: Posting, content_hash: str, now: datetime) -> None:
    before = {name: getattr(job, name) for name in ("title", "company", "location", "source_description", "url")}
    state = ActiveState(job.active_state)
    _copy(job, posting, content_hash, now)
    job.save()
    changed = tuple(name for name, value in before.items() if getattr(job, name) != value)
    append(JobUpdated(job_id=job.id, changed=changed, **describe_job(job)))
    if job.active_state != state:
        append(_describe_state(job, state))


def describe_job(job: Job) -> dict[str, Any]:
    """The bounded facts that lists show."""
    return {
        "title": job.title,
        "company": job.company,
        "location": job.location,
        "work_mode": str(job.mode),
        "salary": describe_salary(job),
        "url": job.url if len(job.url) <= URL_IN_EVENTS else "",
        "posted_at": job.posted_at,
    }


def describe_salary(job: Job) -> str:
    """The pay as one short phrase, "" where none is stated."""
    low, high = job.salary_minimum, job.salary_maximum
    if low is None and high is None:
        return ""
    amounts = "–".join(f"{value:,.0f}" if value == int(value) else f"{value:,.2f}" for value in (low, high) if value)
    period = "" if job.salary_period == "unknown" else f"a {job.salary_period}"
    return " ".join(part for part in (amounts, job.salary_currency, period, job.salary_note) if part)[:120]


def _describe_new(job: Job, source_id: str) -> JobDiscovered:
    return JobDiscovered(job_id=job.id, source=source_id, **describe_job(job))


def _describe_state(job: Job, before: ActiveState) -> JobActiveStateChanged:
    return JobActiveStateChanged(
        job_id=job.id, from_state=before, to_state=job.active_state, evidence=job.active_evidence
    )


def _observe(source_id: str, jobs: dict[str, UUID], ref: ExecutionRef | None, now: datetime) -> None:
    """Count one sighting a source and execution; a retried activity counts nothing twice."""
    run_id = ref.run_id if ref else ""
    seen = {
        row.external_id: row
        for row in JobSourceObservation.objects.filter(source_id=source_id, external_id__in=list(jobs))
    }
    fresh = [
        JobSourceObservation(
            tenant_id=settings.TENANT_ID,
            job_id=job_id,
            source_id=source_id,
            external_id=external_id,
            last_run_id=run_id,
            first_seen_at=now,
            last_seen_at=now,
        )
        for external_id, job_id in jobs.items()
        if external_id not in seen
    ]
    JobSourceObservation.objects.bulk_create(fresh)
    again = [row for row in seen.values() if not run_id or row.last_run_id != run_id]
    for row in again:
        row.times_seen += 1
        row.last_seen_at, row.last_run_id = now, run_id
    JobSourceObservation.objects.bulk_update(again, ["times_seen", "last_seen_at", "last_run_id"])
    touched = [row.job_id for row in (*fresh, *again)]
    counts = dict(
        JobSourceObservation.objects.filter(job_id__in=touched).values_list("job_id").annotate(n=Count("id")).order_by()
    )
    for job_id in touched:
        append(
            JobSourceObserved(
                job_id=job_id,
                source_id=source_id,
                sightings=counts[job_id],
                workflow_id=ref.workflow_id if ref else "",
                run_id=run_id,
            ),
            key=f"observed:{run_id}:{source_id}:{job_id}"[:250] if run_id else None,
        )
