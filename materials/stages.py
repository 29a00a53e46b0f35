"""The stages that materials implements: tailor, cover and pdf."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from discovery.queries import PostingText, find_job_url, get_posting, get_profile, refuse_posting
from materials import engines
from materials.artifact_files import ArtifactWriteFailed
from materials.events import ResumeFailed
from materials.grounding import NotGrounded, check_letter, check_resume
from materials.queries import (
    find_artifact_version,
    find_letter_version,
    find_resume_version,
    get_artifact_files,
    get_letter,
    get_resume,
)
from materials.rendering.failures import RenderCode, RenderFailed
from materials.services import (
    LetterDraft,
    RenderedFile,
    RenderedSet,
    TailoredDraft,
    register_artifacts,
    save_letter,
    save_resume,
)
from operations.contracts import StepKind
from operations.engines import choose_engine
from operations.errors import StageFailure, TransientStageFailure
from operations.eventlog import append
from operations.services.steps import complete_step, fail_step, start_step
from operations.settings_store import get_setting
from operations.stage_engine import Claim, Refusal, Settlement, Stage, stage
from scoring.queries import CurrentScore, find_score_value, get_score

STYLE: Final = "modern"
#: Our own sentences: the renderer's may quote the document, and these travel to events and histories.
RENDER_MESSAGES: Final = {
    RenderCode.BROWSER_GONE: "The browser stopped while it printed the document.",
    RenderCode.TIMEOUT: "The browser did not print the document in time.",
    RenderCode.CHROMIUM_MISSING: "No Chromium was found. Install it, or set CHROMIUM_PATH.",
    RenderCode.FONT_MISSING: "No font has all its characters. Install fonts-noto-core and fonts-noto-cjk.",
    RenderCode.TOO_LONG: "The document needs more pages than it may have.",
    RenderCode.TEXT_LAYER: "The printed text is not what a machine would read; the document was refused.",
}


class _DocumentStage(Stage):
    """What the three have in common: the posting must be open and trusted, the score high enough."""

    def find_refusal(self, job_id: UUID, *, profile_version: int) -> Refusal | None:
        value = find_score_value(job_id)
        if value is not None and value < int(get_setting("min_fit_score")):
            return Refusal("skipped", "MIN_SCORE")
        return refuse_posting(job_id, needs_trust=True)

    def describe_job(self, job_id: UUID) -> str:
        return find_job_url(job_id)


def build_request(claim: Claim, posting: PostingText, score: CurrentScore, *, date: str = "") -> engines.WritingRequest:
    return engines.WritingRequest(
        get_profile(claim.profile_version),
        score.report,
        posting.title,
        posting.company,
        posting.description,
        date,
    )


@stage("tailor", lanes=("tailor",))
class TailorStage(_DocumentStage):
    """A resume of the candidate's own words, accepted only through the grounding gate."""

    def find_result_version(self, job_id: UUID) -> int:
        return find_resume_version(job_id)

    def run(self, claim: Claim, *, is_cancelled: Callable[[], bool]) -> TailoredDraft:
        score = get_score(claim.job_id)
        request = build_request(claim, get_posting(claim.job_id), score)
        name, tailor = choose_engine("tailor", engines.TAILORS)
        document = tailor(request)
        try:
            check_resume(document, profile=request.profile)
        except NotGrounded:
            raise StageFailure("A line of the resume is not the candidate's own.", code="NOT_GROUNDED") from None
        return TailoredDraft(document, name, claim.profile_version, score.version)

    def publish(self, claim: Claim, result: Any) -> Settlement:
        save_resume(claim.job_id, result)
        return Settlement()

    def record_failure(self, claim: Claim, *, code: str, retryable: bool) -> None:
        append(ResumeFailed(job_id=claim.job_id, error_code=code, retryable=retryable))


@stage("cover", lanes=("cover",))
class CoverStage(_DocumentStage):
    """A short letter; every sentence about the candidate is one of their own facts."""

    def find_result_version(self, job_id: UUID) -> int:
        return find_letter_version(job_id)

    def run(self, claim: Claim, *, is_cancelled: Callable[[], bool]) -> LetterDraft:
        score, today = get_score(claim.job_id), timezone.now().date()
        request = build_request(claim, get_posting(claim.job_id), score, date=today.isoformat())
        name, write = choose_engine("cover", engines.WRITERS)
        document = write(request)
        try:
            check_letter(document, profile=request.profile, posting=request.description)
        except NotGrounded:
            raise StageFailure("A sentence of the letter is not the candidate's own.", code="NOT_GROUNDED") from None
        return LetterDraft(document, name, claim.profile_version, get_resume(claim.job_id).version)

    def publish(self, claim: Claim, result: Any) -> Settlement:
        save_letter(claim.job_id, result)
        return Settlement()


@stage("pdf")
class PdfStage(_DocumentStage):
    """Both documents as verified PDFs. Its counted record is the ``pdf_render`` pipeline step."""

    def find_result_version(self, job_id: UUID) -> int:
        return find_artifact_version(job_id)

    def run(self, claim: Claim, *, is_cancelled: Callable[[], bool]) -> RenderedSet:
        from materials.rendering.documents import render_letter, render_resume

        resume, letter = get_resume(claim.job_id), get_letter(claim.job_id)
        if claim.execution_ref is not None:
            start_step(claim.execution_ref, StepKind.PDF_RENDER, item_key=str(claim.job_id), attempt=claim.attempt)
        files = get_artifact_files()
        try:
            pages = (
                ("resume_pdf", render_resume(resume.document, style=STYLE)),
                ("letter_pdf", render_letter(letter.document, style=STYLE)),
            )
            stored = tuple(RenderedFile(kind, files.write(pdf.data), pdf.pages, f"{STYLE}/a4") for kind, pdf in pages)
        except RenderFailed as error:
            failure = TransientStageFailure if error.retryable else StageFailure
            raise failure(RENDER_MESSAGES[error.code], code=str(error.code).upper()) from None
        except ArtifactWriteFailed as error:
            raise TransientStageFailure(str(error), code="ARTIFACT_WRITE_FAILED") from None
        return RenderedSet(stored, resume.version, letter.version)

    def publish(self, claim: Claim, result: Any) -> Settlement:
        register_artifacts(claim.job_id, result)
        pages = sum(file.pages for file in result.files)
        if claim.execution_ref is not None:
            complete_step(
                claim.execution_ref,
                StepKind.PDF_RENDER,
                item_key=str(claim.job_id),
                attempt=claim.attempt,
                counts={"files": len(result.files), "pages": pages},
            )
        return Settlement(counts={"pages": pages})

    def record_cancellation(self, claim: Claim) -> None:
        self.record_failure(claim, code="canceled", retryable=False)

    def record_failure(self, claim: Claim, *, code: str, retryable: bool) -> None:
        if claim.execution_ref is not None:
            fail_step(
                claim.execution_ref,
                StepKind.PDF_RENDER,
                item_key=str(claim.job_id),
                attempt=claim.attempt,
                error_code=code,
            )
