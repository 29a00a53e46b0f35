"""Plain data of the requirement-fit report and the score. Standard library only."""

from dataclasses import dataclass
from enum import StrEnum


class Tier(StrEnum):
    MUST = "must"
    NICE = "nice"


class Scope(StrEnum):
    """``resume`` requirements count towards the score; ``logistics`` ones (place, visa, pay) only warn or block."""

    RESUME = "resume"
    LOGISTICS = "logistics"


class Kind(StrEnum):
    SKILL = "skill"
    EXPERIENCE = "experience"
    EDUCATION = "education"
    LANGUAGE = "language"
    DUTY = "duty"
    ROLE = "role"
    PLACE = "place"
    AUTHORIZATION = "authorization"


class Fit(StrEnum):
    DIRECT = "direct"
    STRONG = "strong"
    TRANSFERABLE = "transferable"
    MISSING = "missing"
    BLOCKED = "blocked"
    NOT_ASSESSED = "not_assessed"


class Band(StrEnum):
    EXCELLENT = "excellent"  # 9
    STRONG = "strong"  # 7
    PLAUSIBLE = "plausible"  # 5
    STRETCH = "stretch"  # 3
    POOR = "poor"  # 1


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing the posting asks for. ``posting_text[start:end]`` is the exact span that says so."""

    id: str
    text: str
    kind: str  # one of ``Kind``
    scope: Scope
    tier: Tier
    weight: float
    start: int
    end: int
    terms: tuple[str, ...] = ()  # canonical names from the skills vocabulary


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one engine found a posting to ask for. ``dropped`` counts what it named and the posting does not say."""

    requirements: tuple[Requirement, ...]
    engine: str = "builtin"
    warnings: tuple[str, ...] = ()
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class RequirementFit:
    """A verdict with its evidence; direct, strong and transferable cite at least one profile evidence id."""

    requirement: Requirement
    fit: Fit
    evidence_ids: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FitReport:
    """``summary`` is one or two plain sentences for a person; ``warnings`` never change the score."""

    items: tuple[RequirementFit, ...]
    warnings: tuple[str, ...] = ()
    summary: str = ""
    engine: str = "builtin"


@dataclass(frozen=True, slots=True)
class Score:
    """``value`` is 1..10; ``awarded`` and ``possible`` are rounded to four decimals (spec/06 B2)."""

    value: int
    band: Band
    awarded: float
    possible: float
    blocked: bool
