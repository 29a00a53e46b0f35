"""The stage that discovery implements: enrich."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from discovery import queries
from discovery.contracts import ActiveState, ContentTier, PageContent, WorkMode
from discovery.events import EnrichmentFailed
from discovery.gateway import FetchCancelled, FetchError, check_status, decode_page, fetch
from discovery.models import Job, PostingContentSnapshot
from discovery.services.enrichment import save_snapshot
from operations.contracts import StageState
from operations.errors import StageCanceled, StageFailure, TransientStageFailure
from operations.eventlog import append
from operations.stage_engine import Claim, Refusal, Settlement, Stage, job_gate, stage

SUFFICIENT_CHARACTERS = 200


@job_gate
def refuse_deleted_job(job_id: UUID) -> Refusal | None:
    """No stage may claim a job that was deleted."""
    return Refusal(StageState.CANCELED, "JOB_DELETED") if queries.is_deleted(job_id) else None


@stage("enrich")
class EnrichStage(Stage):
    """Full description, application URL and metadata: the source's payload, else the page."""

    def find_result_version(self, job_id: UUID) -> int:
        rows = PostingContentSnapshot.objects.filter(job_id=job_id).order_by("-version")
        return rows.values_list("version", flat=True).first() or 0

    def run(self, claim: Claim, *, is_cancelled: Callable[[], bool]) -> PageContent:
        job = Job.objects.get(id=claim.job_id)
        now = timezone.now()
        if len(job.source_description) >= SUFFICIENT_CHARACTERS:
            return judge_activity(read_payload(job), job, now)
        try:
            page = fetch_page(job.url, now=now, is_cancelled=is_cancelled)
        except StageFailure as failure:
            if not job.source_description or (failure.retryable and claim.attempt < self.max_attempts):
                raise
            return judge_activity(read_payload(job), job, now)
        if len(page.description) <= len(job.source_description):
            return judge_activity(add_what_the_page_knows(read_payload(job), page), job, now)
        return judge_activity(replace(page, apply_url=page.apply_url or job.apply_url), job, now)

    def publish(self, claim: Claim, result: Any) -> Settlement:
        job = Job.objects.get(id=claim.job_id)
        snapshot = save_snapshot(job, result)
        return Settlement(counts={"characters": len(snapshot.description)})

    def record_failure(self, claim: Claim, *, code: str, retryable: bool) -> None:
        append(EnrichmentFailed(job_id=claim.job_id, error_code=code, retryable=retryable))

    def describe_job(self, job_id: UUID) -> str:
        return queries.find_job_url(job_id)


def read_payload(job: Job) -> PageContent:
    """What the source itself gave, as page content."""
    return PageContent(
        tier=ContentTier.SOURCE_PAYLOAD,
        title=job.title,
        company=job.company,
        description=job.source_description,
        apply_url=job.apply_url,
        location=job.location,
        mode=WorkMode(job.mode),
        active=ActiveState.ACTIVE,
    )


def add_what_the_page_knows(payload: PageContent, page: PageContent) -> PageContent:
    """The source's own text, with what only the page says: that the posting is closed, and metadata."""
    closed = page.active is ActiveState.CLOSED
    return replace(
        page,
        tier=payload.tier,
        description=payload.description,
        apply_url=payload.apply_url or page.apply_url,
        active=page.active if closed else payload.active,
        evidence=page.evidence if closed else payload.evidence,
    )


def judge_activity(content: PageContent, job: Job, now: datetime) -> PageContent:
    """Closed by the source's date or by a notice in its text; the evidence code is kept."""
    from discovery.pages.notices import match_notice

    if job.closes_at is not None and job.closes_at < now:
        return replace(content, active=ActiveState.CLOSED, evidence="closing_date_passed")
    notice = next((code for line in content.description.splitlines() if (code := match_notice(line))), "")
    if notice:
        return replace(content, active=ActiveState.CLOSED, evidence=notice)
    return content


def fetch_page(url: str, *, now: datetime, is_cancelled: Callable[[], bool]) -> PageContent:
    """One posting page through the gateway; every failure is a typed stage failure."""
    from discovery.pages import extract_page

    if not url:
        raise StageFailure("The posting has neither a description nor an address.", code="NO_CONTENT")
    try:
        response = fetch(url, accept="text/html,application/xhtml+xml", cancelled=is_cancelled)
        check_status(response)
        markup = decode_page(response)
    except FetchCancelled:
        raise StageCanceled from None
    except FetchError as error:
        kind = TransientStageFailure if error.retryable else StageFailure
        raise kind(error.message, code=error.code) from None
    page = extract_page(markup, url=response.url, now=now)
    if not page.description and page.active is not ActiveState.CLOSED:
        raise StageFailure("The posting's page holds no readable description.", code="NO_CONTENT")
    return page
