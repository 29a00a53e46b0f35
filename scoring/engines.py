"""The provider seam of the lanes ``analysis`` and ``score``: which engine reads a posting."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from discovery.contracts import ProfileDocument
from operations.errors import NotConfigured
from operations.settings_store import get_lane_provider
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


def choose_engine() -> tuple[str, Assess]:
    """The engine of the ``score`` lane by name; raises ``NotConfigured`` for one that is not there."""
    name = get_lane_provider("score")
    if name not in ENGINES:
        raise NotConfigured(f"The provider {name} of the score lane is not available.")
    return name, ENGINES[name]
