"""The job page's section on the score: requirements, the evidence for each, and the gaps."""

from typing import Any
from uuid import UUID

from discovery.queries import find_posting, get_profile
from operations.errors import MissingInput
from operations.job_panels import job_panel
from operations.llm.untrusted import LONGEST_TEXT, tries_to_steer
from operations.wording.lanes import name_provider
from scoring.contracts import Fit, RequirementFit
from scoring.engines import STEERS
from scoring.posting_text import posting_text
from scoring.queries import find_score

WORDS = {
    Fit.DIRECT: ("Shown", "good"),
    Fit.STRONG: ("Shown in other words", "good"),
    Fit.TRANSFERABLE: ("Something close", "waiting"),
    Fit.MISSING: ("Not shown", "idle"),
    Fit.BLOCKED: ("Needed and not shown", "person"),
    Fit.NOT_ASSESSED: ("For you to check", "unknown"),
}
WARNINGS = {
    STEERS: "This posting's text tries to steer its reader. That changed nothing.",
    "requirements_unfounded": "The model also named what this posting does not say; that was left out.",
    "posting_truncated": "This posting is very long; only its beginning was read.",
    "work_authorization_unknown": "It asks for leave to work there; your profile does not say.",
    "licence_unknown": "It asks for a licence that your profile does not mention.",
    "clearance_unknown": "It asks for a clearance that your profile does not mention.",
    "languages_unknown": "It asks for a language; your profile lists none.",
}
ORDER = (Fit.BLOCKED, Fit.MISSING, Fit.TRANSFERABLE, Fit.STRONG, Fit.DIRECT, Fit.NOT_ASSESSED)


@job_panel("score", template="scoring/_score_panel.html", place=10)
def read_score_panel(job_id: UUID) -> dict[str, Any] | None:
    """A posting that steers is warned of whatever became of its score."""
    score = find_score(job_id)
    codes = list(score.report.warnings) if score else []
    if STEERS not in codes and is_steering(job_id):
        codes.insert(0, STEERS)
    warnings = [WARNINGS.get(code, code.replace("_", " ")) for code in codes]
    if score is None:
        return {"warnings": warnings} if warnings else None
    evidence = read_evidence(score.profile_version)
    items = sorted(score.report.items, key=lambda item: (ORDER.index(item.fit), -item.requirement.weight))
    return {
        "score": score,
        "engine": describe_engine(score.engine),
        "summary": score.report.summary,
        "warnings": warnings,
        "items": [describe_item(item, evidence) for item in items],
        "shown": sum(item.fit in (Fit.DIRECT, Fit.STRONG) for item in items),
        "asked": sum(item.fit is not Fit.NOT_ASSESSED for item in items),
    }


def is_steering(job_id: UUID) -> bool:
    """Of the part that an engine reads. Two index lookups."""
    posting = find_posting(job_id)
    return posting is not None and tries_to_steer(posting_text(posting.title, posting.description)[:LONGEST_TEXT])


def describe_engine(name: str) -> str:
    _, _, model = name.partition(":")
    return f"the model {model}" if model else name_provider(name)


def describe_item(item: RequirementFit, evidence: dict[str, str]) -> dict[str, Any]:
    word, tone = WORDS[item.fit]
    return {
        "text": item.requirement.text,
        "tier": "must" if item.requirement.tier == "must" else "wish",
        "word": word,
        "tone": tone,
        "reason": item.reason,
        "evidence": [evidence[found] for found in item.evidence_ids if found in evidence],
    }


def read_evidence(profile_version: int) -> dict[str, str]:
    try:
        profile = get_profile(profile_version)
    except MissingInput:
        return {}
    return {evidence.id: evidence.text for evidence in profile.iter_evidence()}
