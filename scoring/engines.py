"""The provider seam of the lanes ``analysis`` and ``score``: which engine reads a posting."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from discovery.contracts import ProfileDocument
from scoring.contracts import FitReport


@dataclass(frozen=True, slots=True)
class AssessmentRequest:
    """``today`` is given, so that the same request always has the same answer."""

    title: str
    description: str
    profile: ProfileDocument
    today: date


Assess = Callable[[AssessmentRequest], FitReport]


def assess_with_builtin(request: AssessmentRequest) -> FitReport:
    """No key, no network, no tokens."""
    from scoring import builtin

    requirements = builtin.extract_requirements(title=request.title, description=request.description)
    warnings = builtin.find_warnings(title=request.title, description=request.description)
    return builtin.assess_fit(requirements, profile=request.profile, today=request.today, warnings=warnings)


ENGINES: dict[str, Assess] = {"builtin": assess_with_builtin}
