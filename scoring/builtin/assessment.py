"""Match a posting's requirements to a profile: one verdict with its evidence for each."""

from collections.abc import Iterable
from datetime import date

from discovery.contracts import ProfileDocument
from scoring.builtin import facts
from scoring.builtin.background_match import (
    match_authorization,
    match_education,
    match_languages,
    match_role,
    match_years,
)
from scoring.builtin.profile_index import ProfileIndex, build_profile_index
from scoring.builtin.skill_match import match_skills
from scoring.builtin.summary import write_summary
from scoring.builtin.verdict import Verdict
from scoring.contracts import Fit, FitReport, Requirement, RequirementFit

_STRONG_SHARE, _STRONG_WORDS = 0.5, 3
_TRANSFERABLE_SHARE, _TRANSFERABLE_WORDS = 0.3, 2
_LONGEST_QUOTE = 90


def assess_fit(
    requirements: Iterable[Requirement], *, profile: ProfileDocument, today: date, warnings: tuple[str, ...] = ()
) -> FitReport:
    """``warnings`` are codes of the caller's own (pay below the wish, ``find_warnings``): passed on, never counted."""
    asked = tuple(requirements)
    index = build_profile_index(profile)
    title = next((requirement.text for requirement in asked if requirement.kind == "role"), "")
    verdicts = [_match_requirement(index, requirement, title=title, today=today) for requirement in asked]
    items = tuple(
        RequirementFit(requirement, verdict.fit, verdict.evidence_ids, verdict.reason)
        for requirement, verdict in zip(asked, verdicts, strict=True)
    )
    return FitReport(
        items,
        warnings=tuple(dict.fromkeys((*warnings, *find_open_questions(items)))),
        summary=write_summary(list(zip(asked, verdicts, strict=True))),
    )


def _match_requirement(index: ProfileIndex, requirement: Requirement, *, title: str, today: date) -> Verdict:
    match requirement.kind:
        case "role":
            return match_role(index, requirement, today=today)
        case "experience":
            return match_years(index, requirement, title=title, today=today)
        case "education":
            return match_education(index, requirement, title=title, today=today)
        case "language":
            return match_languages(index, requirement)
        case "authorization":
            return match_authorization(index, requirement)
        case "place":
            return Verdict(Fit.NOT_ASSESSED, reason="A matter of place and time, not of the resume; please check.")
        case "skill":
            return _match_with_sentences(index, requirement, match_skills(index, requirement, today=today))
        case _:
            known = match_skills(index, requirement, today=today) if requirement.terms else Verdict(Fit.MISSING)
            return _match_with_sentences(index, requirement, known)


def _match_with_sentences(index: ProfileIndex, requirement: Requirement, verdict: Verdict) -> Verdict:
    """Where the vocabulary finds nothing, the candidate's sentences may still say the same thing."""
    if verdict.fit is not Fit.MISSING:
        return verdict
    nearest = index.sentences.find_nearest(requirement.text)
    fit = Fit.MISSING
    if nearest is not None:
        if nearest.share >= _STRONG_SHARE and nearest.words >= _STRONG_WORDS:
            fit = Fit.STRONG
        elif nearest.share >= _TRANSFERABLE_SHARE and nearest.words >= _TRANSFERABLE_WORDS:
            fit = Fit.TRANSFERABLE
    if fit is Fit.MISSING or nearest is None:
        return Verdict(Fit.MISSING, reason=verdict.reason or "Nothing in the profile says this.", absent=verdict.absent)
    if fit is Fit.STRONG and verdict.absent:
        fit = Fit.TRANSFERABLE
    quote = next(item.text for item in index.evidence if item.id == nearest.evidence_id)
    start = "Much like" if fit is Fit.STRONG else "Some of it in"
    return Verdict(fit, (nearest.evidence_id,), f"{start}: “{_shorten(quote)}”.", absent=verdict.absent)


def _shorten(text: str) -> str:
    if len(text) <= _LONGEST_QUOTE:
        return text.rstrip(".")
    return f"{text[:_LONGEST_QUOTE].rsplit(' ', 1)[0]}…"


def find_open_questions(items: tuple[RequirementFit, ...]) -> tuple[str, ...]:
    """Codes of what was not assessed since the profile does not say."""
    unknown = [item.requirement for item in items if item.fit is Fit.NOT_ASSESSED]
    papers = [requirement.text for requirement in unknown if requirement.kind == "authorization"]
    found = [
        code
        for code, pattern in (
            ("work_authorization_unknown", facts.AUTHORIZATION),
            ("licence_unknown", facts.LICENCE),
            ("clearance_unknown", facts.CLEARANCE),
        )
        if any(pattern.search(text) for text in papers)
    ]
    if any(requirement.kind == "language" for requirement in unknown):
        found.append("languages_unknown")
    return tuple(found)
