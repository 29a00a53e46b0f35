"""The cast of discovery's database tests: two employers, an agency, their openings and the runs that see them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pytest_django import Settings

from discovery.contracts import Posting, WorkMode
from discovery.models import Job, PostingContentSnapshot
from discovery.services.postings import Acceptance, record_postings
from operations.contracts import ExecutionRef, StageName, StageReport
from operations.models import JobEventRow, JobStageState
from operations.stage_engine import Owner, StageContext, work_job
from tests.boardserver import BoardServer, reply_html

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

DUTIES = (
    "Northwind Ferries sells two million crossings a year. You will build the booking services in Python and Django, "
    "look after their PostgreSQL databases and take part in the on-call week of a team of seven.\n\n"
    "What you bring\n"
    "5+ years of experience with Python.\n"
    "Strong knowledge of Django and PostgreSQL.\n"
    "Nice to have: Kafka, Terraform.\n"
)
BACKEND = Posting(
    kind="greenhouse",
    board="northwind",
    external_id="R-1",
    title="Backend Engineer",
    company="Northwind Ferries",
    url="https://boards.example.com/northwind/jobs/R-1",
    apply_url="https://boards.example.com/northwind/jobs/R-1/apply",
    location="Austin",
    places=("Austin",),
    mode=WorkMode.HYBRID,
    description=DUTIES,
)
BERLIN = replace(
    BACKEND,
    external_id="R-2",
    url="https://boards.example.com/northwind/jobs/R-2",
    apply_url="https://boards.example.com/northwind/jobs/R-2/apply",
    location="Berlin",
    places=("Berlin",),
    description="The same work, from our office at the Spree. " + DUTIES,
)
AGENCY_COPY = replace(
    BACKEND,
    board="staffing-co",
    external_id="9",
    company="Staffing Co",
    url="https://jobs.example.org/staffing-co/9",
    apply_url="https://jobs.example.org/staffing-co/9/apply",
)

PATH = "/northwind/jobs/R-1"
READABLE = "<p>" + "</p><p>".join(DUTIES.splitlines() * 2) + "</p>"

FIRST_RUN = ExecutionRef("local", "discover-local", "run-1")
SECOND_RUN = ExecutionRef("local", "discover-local", "run-2")


def require_shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"shared/data/{name} is not beside this checkout")
    return path


def accept(*postings: Posting, ref: ExecutionRef | None = FIRST_RUN, source: str = "") -> Acceptance:
    """As a crawl does, under the board's own source unless another is named."""
    return record_postings(source or f"{postings[0].kind}:{postings[0].board}", postings, execution_ref=ref)


def add_job(posting: Posting = BACKEND, *, ref: ExecutionRef | None = FIRST_RUN) -> UUID:
    accept(posting, ref=ref)
    return find_job(posting).id


def find_job(posting: Posting) -> Job:
    return Job.objects.get(kind=posting.kind, board=posting.board, external_id=posting.external_id)


def work(
    job_id: UUID,
    stage: str,
    *,
    run: str = "run-1",
    attempt: int = 1,
    profile_version: int = 1,
    ref: ExecutionRef | None = None,
) -> StageReport:
    """One job through one stage, as an activity of that run's attempt does it."""
    context = StageContext(Owner(f"prep-{job_id}", run, attempt), profile_version, ref)
    return work_job(job_id, StageName(stage), context).report


def get_stage_row(job_id: UUID, stage: str) -> JobStageState:
    return JobStageState.objects.get(job_id=job_id, stage=stage)


def list_events(*types: str, job_id: UUID | None = None) -> list[dict[str, Any]]:
    """Payloads in order; of every type where none is named."""
    rows = JobEventRow.objects.order_by("id")
    if types:
        rows = rows.filter(event_type__in=types)
    if job_id is not None:
        rows = rows.filter(job_id=job_id)
    return [row.payload for row in rows]


def list_event_types(*, after: int = 0) -> list[str]:
    return list(JobEventRow.objects.filter(id__gt=after).order_by("id").values_list("event_type", flat=True))


def read_log_head() -> int:
    return JobEventRow.objects.order_by("-id").values_list("id", flat=True).first() or 0


@contextmanager
def serving_pages(settings: Settings) -> Iterator[BoardServer]:
    """A site with Northwind's page; nothing but its address is allowed beyond the public web."""
    with BoardServer() as server:
        settings.JOBCTRL_ALLOW_PRIVATE_HOSTS = [server.host_port]
        server.set_route(PATH, reply_html(f"<html><title>Backend Engineer</title><body>{READABLE}</body></html>"))
        yield server


def on_page(pages: BoardServer, *, description: str = "") -> Posting:
    """Northwind's opening whose page is on loopback and whose board says little about it."""
    return replace(BACKEND, url=pages.url + PATH, apply_url="", description=description)


def read_snapshots(job_id: UUID) -> list[PostingContentSnapshot]:
    return list(PostingContentSnapshot.objects.filter(job_id=job_id).order_by("version"))


def work_through(job_id: UUID, *stages: str, run: str = "run-1", ref: ExecutionRef | None = None) -> None:
    """Each stage in turn; every one must succeed."""
    for stage in stages:
        report = work(job_id, stage, run=run, ref=ref)
        assert report.state == "succeeded", report
