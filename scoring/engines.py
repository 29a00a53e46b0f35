"""The provider seam of the lanes ``analysis`` and ``score``: who reads a posting, and who compares it with a profile.

Each lane has an engine of its own; either may be the built-in one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from discovery.contracts import ProfileDocument
from operations.engines import choose_engine
from operations.llm.authority import BUILTIN
from operations.llm.ledger import Target
from operations.llm.providers import PROVIDERS, choose_target
from operations.llm.untrusted import LONGEST_TEXT, tries_to_steer
from operations.settings_store import get_lane_provider
from scoring.contracts import Analysis, FitReport
from scoring.posting_text import posting_text

STEERS: Final = "posting_steers"


@dataclass(frozen=True, slots=True)
class AssessmentRequest:
    """``today`` is given, so that the same request always has the same answer."""

    title: str
    description: str
    profile: ProfileDocument
    today: date


Analyze = Callable[[AssessmentRequest], Analysis]
Judge = Callable[[AssessmentRequest, Analysis], FitReport]


def analyze_with_builtin(request: AssessmentRequest) -> Analysis:
    """No key, no network, no tokens."""
    from scoring import builtin

    requirements = builtin.extract_requirements(title=request.title, description=request.description)
    return Analysis(requirements, warnings=builtin.find_warnings(title=request.title, description=request.description))


def judge_with_builtin(request: AssessmentRequest, analysis: Analysis) -> FitReport:
    from scoring import builtin

    return builtin.assess_fit(
        analysis.requirements, profile=request.profile, today=request.today, warnings=analysis.warnings
    )


def assess_with_builtin(request: AssessmentRequest) -> FitReport:
    return judge_with_builtin(request, analyze_with_builtin(request))


ANALYZERS: dict[str, Analyze] = {BUILTIN: analyze_with_builtin}
JUDGES: dict[str, Judge] = {BUILTIN: judge_with_builtin}


def choose_analyzer() -> tuple[str, Analyze]:
    """The engine of the lane ``analysis`` by the name it is recorded under.

    Raises ``NotConfigured`` for one that is not there, ``ProviderNotSetUp`` for a model that lacks its key or name.
    """
    target = _find_target("analysis")
    if target is None:
        return choose_engine("analysis", ANALYZERS)

    def analyze(request: AssessmentRequest) -> Analysis:
        from scoring import model

        found = model.analyze_posting(title=request.title, description=request.description, target=target)
        if tries_to_steer(posting_text(request.title, request.description)[:LONGEST_TEXT]):
            found = replace(found, warnings=(STEERS, *found.warnings))
        return found

    return name_target(target), analyze


def choose_judge() -> tuple[str, Judge]:
    """The engine of the lane ``score``; as ``choose_analyzer``."""
    target = _find_target("score")
    if target is None:
        return choose_engine("score", JUDGES)

    def judge(request: AssessmentRequest, analysis: Analysis) -> FitReport:
        from scoring import model

        return model.judge_requirements(analysis, profile=request.profile, target=target)

    return name_target(target), judge


def _find_target(lane: str) -> Target | None:
    return choose_target(lane) if get_lane_provider(lane) in PROVIDERS else None


def name_target(target: Target) -> str:
    return f"{target.provider}:{target.model}"
