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

from discovery.contracts import ActiveState, PageContent, PayPeriod, Posting, Salary, SkippedPosting, WorkMode
from discovery.events import JobActiveStateChanged, JobDiscovered, JobSourceObserved, JobUpdated
from discovery.identity import company_key, title_key
from discovery.models import Job, JobSourceObservation
from discovery.salary import find_salary
from discovery.services.fence import check_discovery
from discovery.sources.rows import RowFault
from discovery.storable import fit_posting, fit_salary
from operations.contracts import Cohort, ExecutionRef, StageName
from operations.database import writer
from operations.eventlog import append, append_all
from operations.services.executions import link_jobs
from operations.services.stages import enroll_jobs, mark_stale

BATCH = 50
URL_IN_EVENTS = 400
CLOSING_DATE = "closing_date_passed"

#: What makes a job another one to its reader, by the name that ``JobUpdated`` gives it.
CONTENT_FIELDS = {
    "title": "title",
    "company": "company",
    "location": "location",
    "places": "places",
    "country": "country",
    "mode": "workMode",
    "remote_eligibility": "remoteEligibility",
    "employment_type": "employmentType",
    "department": "department",
    "language": "language",
    "url": "url",
    "apply_url": "applyUrl",
    "salary_minimum": "salary",
    "salary_maximum": "salary",
    "salary_currency": "salary",
    "salary_period": "salary",
    "salary_note": "salary",
    "source_description": "description",
    "posted_at": "postedAt",
    "closes_at": "closesAt",
}


#: A change of these makes the posting be read anew, and of those be scored anew.
READ_AGAIN = frozenset({"title", "url", "applyUrl", "description"})
SCORE_AGAIN = frozenset({"title", "description"})


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How many postings were new, known and changed; those that cannot be stored, each with its reason."""

    new: int = 0
    existing: int = 0
    updated: int = 0
    skipped: tuple[SkippedPosting, ...] = ()

    def __add__(self, other: "Acceptance") -> "Acceptance":
        return Acceptance(
            self.new + other.new,
            self.existing + other.existing,
            self.updated + other.updated,
            self.skipped + other.skipped,
        )


def record_postings(source_id: str, postings: Sequence[Posting], *, execution_ref: ExecutionRef | None) -> Acceptance:
    """Accept postings of one source; repeating it adds no second job and no second event.

    Each batch of 50 is one transaction: jobs, stage rows, sightings, membership and events together.
    Of postings with one identity the last is kept; one that cannot be stored is skipped, and no other with it.
    Raises ``RunStopped`` before the first batch that comes after the run's end or cancellation.
    """
    boards: dict[tuple[str, str], dict[str, Posting]] = {}
    skipped: list[SkippedPosting] = []
    for posting in postings:
        try:
            fitted = fit_posting(posting)
        except RowFault as fault:
            skipped.append(SkippedPosting(fault.reason.value, fault.field))
        else:
            boards.setdefault((fitted.kind, fitted.board), {})[fitted.external_id] = fitted
    total = Acceptance(skipped=tuple(skipped))
    for unique in boards.values():
        rows = list(unique.values())
        for start in range(0, len(rows), BATCH):
            total += _record_batch(source_id, rows[start : start + BATCH], execution_ref)
    return total


def _record_batch(source_id: str, postings: Sequence[Posting], ref: ExecutionRef | None) -> Acceptance:
    hashes = {posting.external_id: hash_posting(posting) for posting in postings}
    with writer():
        if ref is not None:
            check_discovery(ref)
        now = timezone.now()
        known = {
            job.external_id: job
            for job in Job.objects.filter(
                tenant_id=settings.TENANT_ID,
                kind=postings[0].kind,
                board=postings[0].board,
                external_id__in=[p.external_id for p in postings],
            )
        }
        new = [p for p in postings if p.external_id not in known]
        created = {p.external_id: _build_job(p, hashes[p.external_id], now) for p in new}
        Job.objects.bulk_create(created.values())
        enroll_jobs(job.id for job in created.values())
        append_all(
            [_describe_new(job, source_id) for job in created.values()],
            keys=[f"job:{job.id}:discovered" for job in created.values()],
        )
        append_all([_describe_closed(job) for job in created.values() if job.active_state != ActiveState.ACTIVE])
        updated = 0
        for posting in postings:
            before = known.get(posting.external_id)
            if before is not None and before.content_hash != hashes[posting.external_id]:
                updated += _update_job(before, posting, hashes[posting.external_id], now)
            if before is not None:
                _judge_closing_date(before, now)
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
    if is_past_closing(job, now):
        job.active_state, job.active_evidence = ActiveState.CLOSED, CLOSING_DATE
    return job


def _copy(job: Job, posting: Posting, content_hash: str, now: datetime) -> None:
    salary = posting.salary or fit_salary(find_salary(posting.description))
    job.title, job.company = posting.title, posting.company
    job.location, job.places = posting.location, list(posting.places)
    job.country, job.mode = posting.country, posting.mode
    job.remote_eligibility = posting.remote_eligibility
    job.employment_type, job.department = posting.employment_type, posting.department
    job.language, job.url, job.apply_url = posting.language, posting.url, posting.apply_url
    _set_salary(job, salary)
    job.source_description = posting.description
    job.content_hash = content_hash
    job.title_key, job.company_key = title_key(posting.title)[:300], company_key(posting.company)[:200]
    job.posted_at, job.source_updated_at, job.closes_at = posting.posted_at, posting.updated_at, posting.closes_at
    job.updated_at = now


def _set_salary(job: Job, salary: Salary | None) -> None:
    job.salary_minimum = salary.minimum if salary else None
    job.salary_maximum = salary.maximum if salary else None
    job.salary_currency = salary.currency if salary else ""
    job.salary_period = salary.period if salary else PayPeriod.UNKNOWN
    job.salary_note = salary.note if salary else ""


def _update_job(job: Job, posting: Posting, content_hash: str, now: datetime) -> bool:
    """Whether anything changed that a reader would see; only then is there an event."""
    before = {name: getattr(job, name) for name in CONTENT_FIELDS}
    _copy(job, posting, content_hash, now)
    job.save()
    changed = tuple(dict.fromkeys(CONTENT_FIELDS[name] for name in before if getattr(job, name) != before[name]))
    if changed:
        append(JobUpdated(job_id=job.id, changed=changed, **describe_job(job)))
    if READ_AGAIN.intersection(changed):
        mark_stale(StageName.ENRICH, [job.id], reason_code="POSTING_CHANGED")
    if SCORE_AGAIN.intersection(changed):
        mark_stale(StageName.SCORE, [job.id], reason_code="POSTING_CHANGED")
    return bool(changed)


def complete_job(job: Job, page: PageContent) -> None:
    """Fill in what the source left open and the posting's page says; what the source said is left as it is. Inside
    ``writer()``."""
    before = {name: getattr(job, name) for name in CONTENT_FIELDS}
    job.location = job.location or page.location
    job.places = job.places or list(page.places)
    job.mode = page.mode if job.mode == WorkMode.UNKNOWN else job.mode
    job.remote_eligibility = job.remote_eligibility or page.remote_eligibility
    job.employment_type = job.employment_type or page.employment_type
    job.apply_url = job.apply_url or page.apply_url
    if job.salary_minimum is None and job.salary_maximum is None and page.salary is not None:
        _set_salary(job, page.salary)
    job.posted_at = job.posted_at or page.posted_at
    job.closes_at = job.closes_at or page.valid_through
    changed = tuple(dict.fromkeys(CONTENT_FIELDS[name] for name in before if getattr(job, name) != before[name]))
    if changed:
        job.updated_at = timezone.now()
        job.save()
        append(JobUpdated(job_id=job.id, changed=changed, **describe_job(job)))


def is_past_closing(job: Job, now: datetime) -> bool:
    return job.closes_at is not None and job.closes_at < now


def _judge_closing_date(job: Job, now: datetime) -> None:
    """Close a known job whose date has passed; open one again that only its old date had closed."""
    if is_past_closing(job, now):
        if job.active_state != ActiveState.CLOSED:
            set_active_state(job, ActiveState.CLOSED, evidence=CLOSING_DATE)
    elif job.active_state == ActiveState.CLOSED and job.active_evidence == CLOSING_DATE:
        set_active_state(job, ActiveState.ACTIVE, evidence="closing_date_moved")


def set_active_state(job: Job, state: ActiveState, *, evidence: str) -> None:
    """Move a job between active, closed and unknown, with its event, inside ``writer()``."""
    append(JobActiveStateChanged(job_id=job.id, from_state=job.active_state, to_state=state, evidence=evidence[:80]))
    job.active_state, job.active_evidence, job.updated_at = state, evidence[:80], timezone.now()
    job.save(update_fields=["active_state", "active_evidence", "updated_at"])


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
    bounds = dict.fromkeys(value for value in (low, high) if value)
    amounts = "–".join(f"{value:,.0f}" if value == int(value) else f"{value:,.2f}" for value in bounds)
    article = "an" if job.salary_period == PayPeriod.HOUR else "a"
    period = "" if job.salary_period == PayPeriod.UNKNOWN else f"{article} {job.salary_period}"
    return " ".join(part for part in (amounts, job.salary_currency, period, job.salary_note) if part)[:120]


def _describe_new(job: Job, source_id: str) -> JobDiscovered:
    return JobDiscovered(job_id=job.id, source=source_id, **describe_job(job))


def _describe_closed(job: Job) -> JobActiveStateChanged:
    return JobActiveStateChanged(
        job_id=job.id, from_state=ActiveState.ACTIVE, to_state=job.active_state, evidence=job.active_evidence
    )


def _observe(source_id: str, jobs: dict[str, UUID], ref: ExecutionRef | None, now: datetime) -> None:
    """Count one sighting a source and execution; a retried activity counts nothing twice."""
    run_id = ref.run_id if ref else ""
    seen = {
        row.external_id: row
        for row in JobSourceObservation.objects.filter(
            tenant_id=settings.TENANT_ID, source_id=source_id, external_id__in=list(jobs)
        )
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
    append_all(
        [
            JobSourceObserved(
                job_id=job_id,
                source_id=source_id,
                sightings=counts[job_id],
                workflow_id=ref.workflow_id if ref else "",
                run_id=run_id,
            )
            for job_id in touched
        ],
        keys=[f"observed:{run_id}:{source_id}:{job_id}"[:250] if run_id else None for job_id in touched],
    )
