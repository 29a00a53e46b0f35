"""Reads of discovery for the apps above it: contracts outside, querysets inside."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import IntegerField, Q, UUIDField

from discovery.contracts import ActiveState, ProfileDocument
from discovery.models import (
    CandidateProfile,
    DiscoveryRun,
    DuplicateCandidate,
    Job,
    JobSourceObservation,
    PostingContentSnapshot,
)
from discovery.profile_import import load_profile
from operations.compiled import CompiledQuery
from operations.contracts import ExecutionRef, StageState
from operations.errors import MissingInput
from operations.stage_engine import Refusal

_PROFILE = CompiledQuery(lambda version: CandidateProfile.objects.filter(version=version), IntegerField())
_JOB = CompiledQuery(lambda job_id: Job.objects.filter(id=job_id).defer("source_description"), UUIDField())
_SNAPSHOT = CompiledQuery(
    lambda job_id: PostingContentSnapshot.objects.filter(job_id=job_id).order_by("-version")[:1], UUIDField()
)
_IS_QUARANTINED = CompiledQuery(
    lambda job_id: (
        PostingContentSnapshot.objects.filter(job_id=job_id)
        .order_by("-version")
        .values_list("quarantined", flat=True)[:1]
    ),
    UUIDField(),
)
_NO_STATE = ("", None, "")
_STATE = CompiledQuery(
    lambda job_id: Job.objects.filter(id=job_id).values_list("active_state", "deleted_at", "url"), UUIDField()
)


@dataclass(frozen=True, slots=True)
class PostingText:
    """A posting as stages read it: its newest snapshot and the facts beside it."""

    job_id: UUID
    title: str
    company: str
    location: str
    mode: str
    url: str
    apply_url: str
    description: str
    snapshot_version: int
    quarantined: bool
    is_closed: bool


def get_newest_profile_version() -> int:
    """Raises ``MissingInput`` where no profile was imported yet."""
    version = CandidateProfile.objects.order_by("-version").values_list("version", flat=True).first()
    if version is None:
        raise MissingInput("There is no candidate profile yet. Run: manage.py import_profile FILE")
    return int(version)


def find_newest_profile_version() -> int:
    return CandidateProfile.objects.order_by("-version").values_list("version", flat=True).first() or 0


def get_profile(version: int) -> ProfileDocument:
    row = _PROFILE.first(version)
    if row is None:
        raise MissingInput(f"Profile version {version} does not exist.")
    return load_profile(row.document)


def find_posting(job_id: UUID) -> PostingText | None:
    """Two index lookups; ``None`` without a snapshot."""
    job, snapshot = _JOB.first(job_id), _SNAPSHOT.first(job_id)
    if job is None or snapshot is None:
        return None
    return PostingText(
        job.id,
        job.title,
        job.company,
        job.location,
        job.mode,
        job.url,
        snapshot.apply_url,
        snapshot.description,
        snapshot.version,
        snapshot.quarantined,
        job.active_state == ActiveState.CLOSED,
    )


def get_posting(job_id: UUID) -> PostingText:
    found = find_posting(job_id)
    if found is None:
        raise MissingInput("This job has no content yet; enrich it first.")
    return found


def find_posting_refusal(job_id: UUID, *, needs_trust: bool) -> str:
    """Why a stage must not work on this posting now: a bounded code, or ""."""
    state, _, _ = _STATE.first(job_id) or _NO_STATE
    if state == ActiveState.CLOSED:
        return "POSTING_CLOSED"
    return "LOW_CONFIDENCE" if needs_trust and _IS_QUARANTINED.first(job_id) else ""


def refuse_posting(job_id: UUID, *, needs_trust: bool) -> Refusal | None:
    """For the stages after enrichment: a closed posting blocks them, a distrusted one blocks the documents."""
    code = find_posting_refusal(job_id, needs_trust=needs_trust)
    return Refusal(StageState.BLOCKED, code, settle_as=StageState.BLOCKED, blocked_by="enrich") if code else None


def is_deleted(job_id: UUID) -> bool:
    _, deleted_at, _ = _STATE.first(job_id) or _NO_STATE
    return deleted_at is not None


def find_job_url(job_id: UUID) -> str:
    _, _, url = _STATE.first(job_id) or _NO_STATE
    return url


def iter_runs_in_progress(*, page: int = 200) -> Iterator[list[ExecutionRef]]:
    """Pages of the runs whose end was not recorded, by key; one row a run is read."""
    after = ""
    while True:
        open_runs = DiscoveryRun.objects.filter(status="in_progress", run_id__gt=after)
        rows = list(open_runs.order_by("run_id").only("tenant_id", "workflow_id", "run_id")[:page])
        if rows:
            yield [ExecutionRef(row.tenant_id, row.workflow_id, row.run_id) for row in rows]
        if len(rows) < page:
            return
        after = rows[-1].run_id


@dataclass(frozen=True, slots=True)
class SightingRow:
    """That one source showed a job, and how often."""

    source_id: str
    times_seen: int
    first_seen_at: datetime
    last_seen_at: datetime


def list_sightings(job_id: UUID) -> list[SightingRow]:
    rows = JobSourceObservation.objects.filter(job_id=job_id).order_by("first_seen_at", "id")
    return [SightingRow(row.source_id, row.times_seen, row.first_seen_at, row.last_seen_at) for row in rows[:50]]


@dataclass(frozen=True, slots=True)
class SnapshotFacts:
    """How far a posting's newest text is trusted, without the text."""

    version: int
    tier: str
    confidence: str
    quarantined: bool
    captured_at: datetime


def find_snapshot_facts(job_id: UUID) -> SnapshotFacts | None:
    row = PostingContentSnapshot.objects.filter(job_id=job_id).defer("description").order_by("-version").first()
    if row is None:
        return None
    return SnapshotFacts(row.version, row.tier, row.confidence, row.quarantined, row.captured_at)


@dataclass(frozen=True, slots=True)
class DuplicateRow:
    """Another job that this one may be a copy of."""

    job_id: UUID
    title: str
    company: str
    reason: str
    similarity: float


def list_duplicates(job_id: UUID) -> list[DuplicateRow]:
    """Proposed ones, either way round; at most 20."""
    pairs = DuplicateCandidate.objects.filter(Q(job_id=job_id) | Q(other_job_id=job_id), state="proposed")[:20]
    others = {pair.other_job_id if pair.job_id == job_id else pair.job_id: pair for pair in pairs}
    jobs = Job.objects.filter(id__in=list(others)).only("id", "title", "company")
    return [
        DuplicateRow(job.id, job.title, job.company, others[job.id].reason, others[job.id].similarity) for job in jobs
    ]
