import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from pytest_django import Settings

from discovery.models import Job
from discovery.services.jobs import delete_jobs
from discovery.services.profiles import import_profile
from discovery.services.runs import crawl_source, plan_run
from discovery.services.sources import register_bundled_sources
from jobctrl.home import Home
from materials import reconcilers
from materials.chromium import ChromiumMissing, find_chromium
from materials.models import Artifact
from materials.queries import get_artifact_files, list_artifacts
from materials.reconcilers import GRACE_SECONDS, sweep_artifact_files
from materials.rendering import documents
from materials.rendering import renderer as render_thread
from materials.rendering.documents import RenderedPdf
from materials.rendering.failures import RenderCode, RenderFailed
from materials.services import RenderedSet, register_artifacts
from operations.contracts import RunStatus, StageName, WorkflowOutcome
from operations.models import JobListProjection, JobStageState, PipelineStepProjection
from operations.reconciling import run_reconcilers
from operations.services.runs import record_outcome
from operations.services.stages import reset_stages
from operations.settings_store import change_settings
from operations.stage_engine import Claim, Owner, Refusal, StageContext, claim_stage, get_stage, work_job
from tests.discovery.cast import (
    FIRST_RUN,
    add_job,
    get_stage_row,
    list_event_types,
    list_events,
    read_log_head,
    require_shared,
    work,
    work_through,
)
from tests.materials.candidate import SAMPLE

try:
    find_chromium()
    MISSING = ""
except ChromiumMissing as error:
    MISSING = str(error)

pytestmark = pytest.mark.django_db
prints = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(MISSING), reason=MISSING or "Chromium is here"),
]

Check = Callable[[], None]
PRINTING = Owner("prep", "run-printing")


def in_chromium(test: Callable[..., None]) -> Callable[..., None]:
    for mark in prints:
        test = mark(test)
    return test


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: Settings) -> Path:
    settings.JOBCTRL_HOME = Home(tmp_path / "home")
    settings.JOBCTRL_HOME.create()
    return tmp_path / "home"


@pytest.fixture(scope="module", autouse=True)
def _stop_browser() -> Iterator[None]:
    yield
    render_thread.shutdown()


@pytest.fixture
def covered(db: None) -> UUID:
    """Northwind's opening, with both documents written for Anaïs."""
    import_profile(SAMPLE.read_bytes())
    job_id = add_job()
    work_through(job_id, "enrich", "score", "tailor", "cover")
    return job_id


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of Chromium: bytes that depend on the document alone."""

    def print_document(document: object, *, style: str) -> RenderedPdf:
        data = b"%PDF-1.7\n" + repr((style, document)).encode()
        return RenderedPdf(data, 1, "", hashlib.sha256(data).hexdigest())

    monkeypatch.setattr(documents, "render_resume", print_document)
    monkeypatch.setattr(documents, "render_letter", print_document)


def list_files(home: Path) -> list[Path]:
    return sorted(path for path in (home / "artifacts").rglob("*") if path.is_file())


def grow_old(home: Path) -> None:
    past = time.time() - GRACE_SECONDS - 60
    for path in list_files(home):
        os.utime(path, (past, past))


# --- real documents ----------------------------------------------------------------------------


@in_chromium
def test_it_prints_both_documents_and_registers_them(covered: UUID, home: Path, assert_rebuild_matches: Check) -> None:
    assert work(covered, "pdf", ref=FIRST_RUN).state == "succeeded"

    rows = {row.kind: row for row in Artifact.objects.all()}
    assert set(rows) == {"resume_pdf", "letter_pdf"}
    for row in rows.values():
        data = get_artifact_files().read(row.sha256)
        assert data.startswith(b"%PDF-")
        assert (row.size, row.version, row.template) == (len(data), 1, "modern/a4")
        assert (home / "artifacts" / row.relative_path).read_bytes() == data
    assert rows["letter_pdf"].pages == 1 and 1 <= rows["resume_pdf"].pages <= 2
    [rendered] = list_events("PdfRendered")
    assert rendered["artifacts"] == {kind: str(row.id) for kind, row in rows.items()}
    assert (rendered["resumeVersion"], rendered["letterVersion"]) == (1, 1)
    assert JobListProjection.objects.get(job_id=covered).has_documents
    step = PipelineStepProjection.objects.get(kind="pdf_render")
    assert (step.item_key, step.state) == (str(covered), "succeeded")
    assert step.counts_json["files"] == 2
    assert_rebuild_matches()


@in_chromium
def test_it_prints_the_same_bytes_again(covered: UUID, home: Path, assert_rebuild_matches: Check) -> None:
    work_through(covered, "pdf")
    before = list_files(home)
    reset_stages(StageName.PDF, [covered])
    work_through(covered, "pdf", run="run-2")

    hashes = {
        version: dict(Artifact.objects.filter(version=version).values_list("kind", "sha256")) for version in (1, 2)
    }
    assert hashes[1] == hashes[2]
    assert list_files(home) == before and len(before) == 2
    assert Artifact.objects.count() == 4
    assert_rebuild_matches()


@in_chromium
@pytest.mark.parametrize(
    "name", ["jsonresume-senior-engineer.json", "jsonresume-new-grad.json", "jrs-v0-richard-hendriks.json"]
)
def test_it_prepares_the_sample_people_end_to_end(name: str, assert_rebuild_matches: Check) -> None:
    import_profile(require_shared(f"resume/{name}").read_bytes())
    change_settings({"min_fit_score": 1}, actor="test")
    sources = register_bundled_sources()
    plan_run(FIRST_RUN)
    for source_id in sources:
        crawl_source(FIRST_RUN, source_id, attempt=1, is_cancelled=lambda: False)
    chosen = [
        Job.objects.filter(board=board, active_state="active").order_by("external_id")[0]
        for board in ("tidewater-grid", "alpenblick")
    ]

    for job in chosen:
        work_through(job.id, "enrich", "score", "tailor", "cover", "pdf")

    assert len(list_artifacts([job.id for job in chosen])) == 4
    assert_rebuild_matches()


# --- one transaction ---------------------------------------------------------------------------


@pytest.mark.usefixtures("printed")
def test_it_registers_nothing_of_a_publish_that_fails_and_the_sweep_takes_the_files(
    covered: UUID, home: Path, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    def register_and_fail(job_id: UUID, rendered: RenderedSet) -> None:
        register_artifacts(job_id, rendered)
        raise RuntimeError("the power went")

    monkeypatch.setattr("materials.stages.register_artifacts", register_and_fail)

    report = work(covered, "pdf")

    assert (report.state, report.code) == ("failed", "INTERNAL_ERROR")
    assert get_stage_row(covered, "pdf").retryable
    assert not Artifact.objects.exists()
    assert list_events("PdfRendered") == []
    assert not JobListProjection.objects.get(job_id=covered).has_documents
    assert len(list_files(home)) == 2

    assert sweep_artifact_files() == 0  # a writer may be about to register them
    grow_old(home)
    assert sweep_artifact_files() == 2
    assert list_files(home) == []

    monkeypatch.undo()
    assert_rebuild_matches()


@pytest.mark.usefixtures("printed")
def test_it_sweeps_no_registered_file(covered: UUID, home: Path, assert_rebuild_matches: Check) -> None:
    work_through(covered, "pdf")
    grow_old(home)
    get_artifact_files().write(b"%PDF-1.7 left by a crash")
    grow_old(home)

    assert sweep_artifact_files() == 1

    assert {path.name for path in list_files(home)} == {f"{row.sha256}.pdf" for row in Artifact.objects.all()}
    assert_rebuild_matches()


@pytest.mark.usefixtures("printed")
def test_it_goes_by_the_content_for_a_files_name(covered: UUID, home: Path, assert_rebuild_matches: Check) -> None:
    work_through(covered, "pdf")

    for path in list_files(home):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert path.relative_to(home / "artifacts") == Path(digest[:2], digest[2:4], f"{digest}.pdf")
    assert_rebuild_matches()


@pytest.mark.usefixtures("printed")
def test_it_publishes_nothing_after_a_cancellation(covered: UUID, home: Path, assert_rebuild_matches: Check) -> None:
    context = StageContext(Owner("prep", "run-1"), 1, FIRST_RUN, is_cancelled=lambda: True)

    report = work_job(covered, StageName.PDF, context).report

    assert report.state == "canceled"
    step = PipelineStepProjection.objects.get(kind="pdf_render")
    assert (step.state, step.error_code) == ("failed", "canceled")
    assert not Artifact.objects.exists()
    assert list_events("PdfRendered") == []
    assert_rebuild_matches()


@pytest.mark.usefixtures("printed")
def test_it_has_no_row_before_it_is_claimed(covered: UUID, assert_rebuild_matches: Check) -> None:
    assert not JobStageState.objects.filter(stage="pdf").exists()

    work_through(covered, "pdf")

    assert get_stage_row(covered, "pdf").state == "succeeded"
    assert list_event_types()[-2:] == ["PdfRendered", "StageCompleted"]
    assert_rebuild_matches()


# --- failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", list(RenderCode))
def test_it_fails_by_type_and_quotes_no_document(
    code: RenderCode, covered: UUID, monkeypatch: pytest.MonkeyPatch, assert_rebuild_matches: Check
) -> None:
    def fail(document: object, *, style: str) -> RenderedPdf:
        raise RenderFailed(code, "the line «Cut the nightly run of Halden Freight» is missing")

    monkeypatch.setattr(documents, "render_resume", fail)

    report = work(covered, "pdf", ref=FIRST_RUN)

    row = get_stage_row(covered, "pdf")
    assert (report.state, report.code) == ("failed", code.upper())
    assert row.retryable == (code in (RenderCode.BROWSER_GONE, RenderCode.TIMEOUT))
    assert row.error_message and "Halden" not in row.error_message
    assert "Halden" not in str(list_events("StageFailed", "PipelineStepFailed"))
    assert [event["errorCode"] for event in list_events("PipelineStepFailed")] == [code.upper()]
    assert get_stage_row(covered, "apply").state == "pending"
    assert_rebuild_matches()


@pytest.mark.usefixtures("printed")
def test_it_tries_again_once_the_disk_can_be_written(covered: UUID, home: Path, assert_rebuild_matches: Check) -> None:
    (home / "artifacts").rmdir()
    (home / "artifacts").write_text("in the way")

    report = work(covered, "pdf")

    row = get_stage_row(covered, "pdf")
    assert (report.state, report.code, row.retryable) == ("failed", "ARTIFACT_WRITE_FAILED", True)
    assert "cannot be written" in row.error_message or "was not written" in row.error_message
    (home / "artifacts").unlink()
    assert work(covered, "pdf", attempt=2).state == "succeeded"
    assert Artifact.objects.count() == 2
    assert_rebuild_matches()


def test_it_waits_for_the_letter(assert_rebuild_matches: Check) -> None:
    import_profile(SAMPLE.read_bytes())
    job_id = add_job()
    work_through(job_id, "enrich", "score", "tailor")
    head = read_log_head()

    assert work(job_id, "pdf").code == "WAITS_FOR_COVER"
    assert read_log_head() == head
    assert_rebuild_matches()


# --- a render that nobody finishes -------------------------------------------------------------


def leave_printing(job_id: UUID) -> None:
    """As a worker leaves it that dies between printing and publishing."""
    given = claim_stage(job_id, StageName.PDF, owner=PRINTING, profile_version=1, execution_ref=FIRST_RUN)
    assert isinstance(given, Claim)
    get_stage("pdf").run(given, is_cancelled=lambda: False)
    assert read_step() == ("running", "")


def read_step() -> tuple[str, str]:
    step = PipelineStepProjection.objects.get(kind="pdf_render")
    return step.state, step.error_code


@pytest.mark.parametrize(
    ("status", "code"),
    [(RunStatus.CANCELED, "canceled"), (RunStatus.FAILED, "OWNER_ENDED")],
    ids=["canceled", "failed"],
)
def test_it_ends_the_step_with_the_run_that_owned_it(
    covered: UUID, printed: None, assert_rebuild_matches: Check, status: RunStatus, code: str
) -> None:
    leave_printing(covered)
    record_outcome(WorkflowOutcome(PRINTING.workflow_id, PRINTING.run_id, "JobPreparationWorkflow", status, "internal"))
    assert read_step() == ("failed", code)
    assert_rebuild_matches()


def test_it_ends_the_step_of_a_job_that_was_deleted_meanwhile(
    covered: UUID, printed: None, assert_rebuild_matches: Check
) -> None:
    leave_printing(covered)
    delete_jobs([covered])
    refused = claim_stage(covered, StageName.PDF, owner=replace(PRINTING, attempt=2), profile_version=1)
    assert isinstance(refused, Refusal)
    assert read_step() == ("failed", "JOB_DELETED")
    assert_rebuild_matches()


def test_it_sweeps_again_an_hour_later_what_was_too_young_at_startup(
    home: Path, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_sweep = [float("-inf")]
    monkeypatch.setattr(reconcilers, "_last_sweep", last_sweep)
    get_artifact_files().write(b"%PDF-1.7 of a worker that died")
    assert sweep_as_a_worker(startup=True) == 0
    grow_old(home)
    assert sweep_as_a_worker(startup=False) == 0

    last_sweep[0] -= reconcilers.HOUR_SECONDS
    assert sweep_as_a_worker(startup=False) == 1
    assert list_files(home) == []


def sweep_as_a_worker(*, startup: bool) -> int:
    """What it does before it takes work, and with each heartbeat."""
    return run_reconcilers(startup=startup)["materials.reconcilers.sweep_hourly"]
