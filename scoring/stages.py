"""The stage that scoring implements: score."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils import timezone

from discovery.queries import find_job_url, get_posting, get_profile, refuse_posting
from operations.database import writer
from operations.errors import StageCanceled, StageFailure, TransientStageFailure
from operations.llm.authority import BUILTIN
from operations.settings_store import get_setting
from operations.stage_engine import Claim, Hold, Refusal, Settlement, Stage, check_lease, stage
from scoring import engines
from scoring.contracts import Analysis, Scope
from scoring.posting_text import posting_text
from scoring.queries import KeptAnalysis, find_kept_analysis, find_score_value, find_score_version
from scoring.scoring_rule import AnalysisEmpty, ReportInvalid, check_report, compute_score
from scoring.services import Assessment, save_analysis, save_score

MIN_SCORE = "MIN_SCORE"


@stage("score", lanes=("analysis", "score"))
class ScoreStage(Stage):
    """Requirements of the posting against the profile's evidence, and the 1-10 fit computed from them."""

    def find_refusal(self, job_id: UUID, *, profile_version: int) -> Refusal | None:
        return refuse_posting(job_id, needs_trust=False)

    def find_first_lane(self, job_id: UUID) -> str:
        name, _ = engines.choose_analyzer()
        if name == BUILTIN:
            return "score"
        snapshot_version = get_posting(job_id).snapshot_version
        return "analysis" if find_usable_analysis(job_id, name, snapshot_version) is None else "score"

    def find_result_version(self, job_id: UUID) -> int:
        return find_score_version(job_id)

    def run(self, claim: Claim, *, is_cancelled: Callable[[], bool]) -> Assessment:
        posting = get_posting(claim.job_id)
        if not posting.description.strip():
            raise StageFailure("The posting is empty, so there is nothing to score.", code="POSTING_EMPTY")
        profile = get_profile(claim.profile_version)
        request = engines.AssessmentRequest(posting.title, posting.description, profile, timezone.now().date())
        # Both lanes are looked up before either may cost anything.
        reader, (judge_name, judge) = engines.choose_analyzer(), engines.choose_judge()
        try:
            found = analyze(
                claim, request, reader, snapshot_version=posting.snapshot_version, is_cancelled=is_cancelled
            )
            report = judge(request, found.analysis)
            check_report(
                report,
                posting_text=posting_text(posting.title, posting.description),
                evidence_ids={evidence.id for evidence in profile.iter_evidence()},
            )
            score = compute_score(report)
        except AnalysisEmpty:
            raise StageFailure("The posting asks for nothing a resume could show.", code="ANALYSIS_EMPTY") from None
        except ReportInvalid:
            # A model may well answer better the next time; the built-in engine says the same again.
            failure = StageFailure if judge_name == BUILTIN else TransientStageFailure
            raise failure("The report does not hold against the posting.", code=ReportInvalid.code) from None
        return Assessment(report, score, found.analysis, claim.profile_version, posting.snapshot_version, found.version)

    def publish(self, claim: Claim, result: Any) -> Settlement:
        save_score(claim.job_id, result)
        return settle_score(result.score.value)

    def settle_found(self, job_id: UUID) -> Settlement:
        value = find_score_value(job_id)
        return Settlement() if value is None else settle_score(value)

    def describe_job(self, job_id: UUID) -> str:
        return find_job_url(job_id)


def analyze(
    claim: Claim,
    request: engines.AssessmentRequest,
    reader: tuple[str, engines.Analyze],
    *,
    snapshot_version: int,
    is_cancelled: Callable[[], bool],
) -> KeptAnalysis:
    """A model's analysis is stored as soon as it is there: a later attempt does not pay for it again.

    Raises ``AnalysisEmpty`` where nothing is asked that a resume could show. That is not stored: whoever has the stage
    tried again has the posting read again.
    """
    name, read = reader
    if name == BUILTIN:
        return KeptAnalysis(0, expect_asks(read(request)))
    if (kept := find_usable_analysis(claim.job_id, name, snapshot_version)) is not None:
        return kept
    found = expect_asks(read(request))
    if is_cancelled():
        raise StageCanceled
    with writer():
        check_lease(claim)
        return KeptAnalysis(save_analysis(claim.job_id, found, snapshot_version=snapshot_version), found)


def expect_asks(analysis: Analysis) -> Analysis:
    if not asks_of_resume(analysis):
        raise AnalysisEmpty
    return analysis


def find_usable_analysis(job_id: UUID, engine: str, snapshot_version: int) -> KeptAnalysis | None:
    kept = find_kept_analysis(job_id, snapshot_version=snapshot_version, engine=engine)
    return kept if kept is not None and asks_of_resume(kept.analysis) else None


def asks_of_resume(analysis: Analysis) -> bool:
    return any(asked.scope is Scope.RESUME for asked in analysis.requirements)


def settle_score(value: int) -> Settlement:
    """A score below the operator's threshold holds every later stage; one at it passes."""
    below = value < int(get_setting("min_fit_score"))
    return Settlement(hold=Hold(MIN_SCORE, applies=below), counts={"fitScore": value})
