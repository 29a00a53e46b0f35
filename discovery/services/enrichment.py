"""Storing what a posting says, how far it is trusted, and which other job it may be."""

import hashlib
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from discovery.confidence import is_quarantined, rate_confidence
from discovery.contracts import ActiveState, PageContent
from discovery.events import (
    ContentDuplicateCandidateDetected,
    JobEnriched,
    PostingContentSnapshotCaptured,
)
from discovery.identity import description_hash, normalise_url, token_jaccard
from discovery.models import DuplicateCandidate, Job, PostingContentSnapshot
from discovery.services.postings import complete_job, set_active_state
from discovery.storable import fit_content
from operations.contracts import StageName
from operations.database import require_write
from operations.eventlog import append
from operations.services.stages import mark_stale

NEAR_LIMIT = 20
NEAR_SIMILARITY = 0.85


@dataclass(frozen=True, slots=True)
class Near:
    """Another job that may be the same posting, and why."""

    job_id: UUID
    reason: str
    similarity: float


def save_snapshot(job: Job, content: PageContent) -> PostingContentSnapshot:
    """Append an immutable snapshot with its events, inside ``writer()``."""
    require_write()
    content = fit_content(content)
    confidence = rate_confidence(tier=content.tier, description=content.description, apply_url=content.apply_url)
    previous = PostingContentSnapshot.objects.filter(job_id=job.id).order_by("-version").first()
    snapshot = PostingContentSnapshot.objects.create(
        tenant_id=settings.TENANT_ID,
        job_id=job.id,
        version=previous.version + 1 if previous else 1,
        tier=content.tier,
        confidence=confidence,
        active_state=content.active,
        evidence=content.evidence,
        quarantined=is_quarantined(confidence, content.active, override=False),
        description=content.description,
        apply_url=content.apply_url,
        warnings=list(content.warnings),
        description_hash=description_hash(content.description) if content.description else "",
        apply_url_key=compute_url_key(content.apply_url),
        captured_at=timezone.now(),
    )
    append(
        PostingContentSnapshotCaptured(
            job_id=job.id,
            version=snapshot.version,
            tier=content.tier,
            confidence=confidence,
            active_state=content.active,
            characters=len(content.description),
        )
    )
    complete_job(job, content)
    if content.active is not ActiveState.UNKNOWN and job.active_state != content.active:
        set_active_state(job, content.active, evidence=content.evidence or "enriched_as_open")
    append(
        JobEnriched(
            job_id=job.id,
            snapshot_version=snapshot.version,
            tier=content.tier,
            confidence=confidence,
            quarantined=snapshot.quarantined,
        )
    )
    if previous is not None and previous.description_hash != snapshot.description_hash:
        mark_stale(StageName.SCORE, [job.id], reason_code="POSTING_CHANGED")
    propose_duplicates(job, snapshot)
    return snapshot


def compute_url_key(url: str) -> str:
    """A fixed-length key of the normalised application URL; "" where there is none."""
    if not url:
        return ""
    try:
        return hashlib.sha256(normalise_url(url).encode()).hexdigest()
    except ValueError:
        return ""


def propose_duplicates(job: Job, snapshot: PostingContentSnapshot) -> None:
    """Propose jobs that may be this one (spec/06 B); nothing is ever merged here."""
    for near in find_near_jobs(job, snapshot):
        _, created = DuplicateCandidate.objects.get_or_create(
            job_id=min(job.id, near.job_id, key=str),
            other_job_id=max(job.id, near.job_id, key=str),
            defaults={
                "tenant_id": settings.TENANT_ID,
                "reason": near.reason,
                "similarity": near.similarity,
                "detected_at": timezone.now(),
            },
        )
        if created:
            append(
                ContentDuplicateCandidateDetected(
                    job_id=job.id, other_job_id=near.job_id, reason=near.reason, similarity=near.similarity
                )
            )


def find_near_jobs(job: Job, snapshot: PostingContentSnapshot) -> list[Near]:
    """Equal description 1.0, equal application URL 0.95, near-equal words of a namesake. At most 20, by index."""
    found: dict[UUID, Near] = {}
    others = PostingContentSnapshot.objects.exclude(job_id=job.id)
    if snapshot.description_hash:
        for job_id in _list_jobs(others.filter(description_hash=snapshot.description_hash)):
            found.setdefault(job_id, Near(job_id, "equal_description", 1.0))
    if snapshot.apply_url_key:
        for job_id in _list_jobs(others.filter(apply_url_key=snapshot.apply_url_key)):
            found.setdefault(job_id, Near(job_id, "equal_application_url", 0.95))
    if job.company_key and job.title_key:
        namesakes = Job.objects.filter(company_key=job.company_key, title_key=job.title_key).exclude(id=job.id)
        wanted = [i for i in namesakes.values_list("id", flat=True)[:NEAR_LIMIT] if i not in found]
        for other in others.filter(job_id__in=wanted):
            similarity = token_jaccard(snapshot.description, other.description)
            if similarity >= NEAR_SIMILARITY:
                found.setdefault(other.job_id, Near(other.job_id, "similar_description", round(similarity, 3)))
    return list(found.values())[:NEAR_LIMIT]


def _list_jobs(snapshots: QuerySet[PostingContentSnapshot]) -> list[UUID]:
    """Jobs, not snapshots: one that was enriched often hides no other."""
    return list(snapshots.order_by("job_id").values_list("job_id", flat=True).distinct()[:NEAR_LIMIT])
