"""The score: arithmetic over a requirement-fit report, whoever made the report (spec/06 B2)."""

import math
from collections.abc import Collection
from decimal import ROUND_HALF_UP, Decimal

from scoring.contracts import Band, Fit, FitReport, Scope, Score, Tier

_TIER_FACTOR = {Tier.MUST: Decimal("1.25"), Tier.NICE: Decimal("1")}
_FIT_FACTOR = {Fit.DIRECT: Decimal("1"), Fit.STRONG: Decimal("0.85"), Fit.TRANSFERABLE: Decimal("0.6")}
_BANDS = ((9, Band.EXCELLENT), (7, Band.STRONG), (5, Band.PLAUSIBLE), (3, Band.STRETCH), (1, Band.POOR))
_BLOCKED_CAP = 4
_FOUR_PLACES = Decimal("0.0001")
_SHOWN = (Fit.DIRECT, Fit.STRONG, Fit.TRANSFERABLE)


class AnalysisEmpty(Exception):
    """The posting states nothing that a score could be counted from."""

    code = "ANALYSIS_EMPTY"


class ReportInvalid(Exception):
    """A requirement-fit report does not hold against its posting or its profile."""

    code = "REPORT_INVALID"


def compute_score(report: FitReport) -> Score:
    """Raises ``AnalysisEmpty`` where no requirement of scope ``resume`` carries weight."""
    counted = [item for item in report.items if item.requirement.scope is Scope.RESUME]
    weighed = [
        (Decimal(str(item.requirement.weight)) * _TIER_FACTOR[item.requirement.tier], item.fit) for item in counted
    ]
    possible = _round(sum((weight for weight, _ in weighed), Decimal(0)))
    awarded = _round(sum((weight * _FIT_FACTOR.get(fit, Decimal(0)) for weight, fit in weighed), Decimal(0)))
    if possible <= 0:
        raise AnalysisEmpty
    # 1 + floor(9a/p + 1/2) as one exact integer division: no binary fraction decides a boundary.
    value = 1 + int((18 * awarded + possible) // (2 * possible))
    blocked = any(item.fit is Fit.BLOCKED for item in report.items)
    value = max(1, min(value, 10, _BLOCKED_CAP if blocked else 10))
    return Score(value, get_band(value), float(awarded), float(possible), blocked)


def get_band(value: int) -> Band:
    return next((band for lowest, band in _BANDS if value >= lowest), Band.POOR)


def check_report(report: FitReport, *, posting_text: str, evidence_ids: Collection[str]) -> None:
    """Raises ``ReportInvalid`` naming the requirement whose span, weight or evidence does not hold."""
    known = frozenset(evidence_ids)
    seen: set[str] = set()
    for item in report.items:
        requirement = item.requirement
        if not requirement.id or requirement.id in seen:
            raise ReportInvalid(f"Requirement {requirement.id!r}: the id is empty or used twice.")
        seen.add(requirement.id)
        if not (math.isfinite(requirement.weight) and requirement.weight > 0):
            raise ReportInvalid(f"Requirement {requirement.id!r}: the weight is not a positive number.")
        if not 0 <= requirement.start < requirement.end <= len(posting_text):
            raise ReportInvalid(f"Requirement {requirement.id!r}: its span lies outside the posting.")
        if posting_text[requirement.start : requirement.end] != requirement.text:
            raise ReportInvalid(f"Requirement {requirement.id!r}: its text is not what the posting says at its span.")
        if item.fit in _SHOWN and not item.evidence_ids:
            raise ReportInvalid(f"Requirement {requirement.id!r}: {item.fit} without evidence.")
        unknown = [key for key in item.evidence_ids if key not in known]
        if unknown:
            raise ReportInvalid(f"Requirement {requirement.id!r}: no such evidence in the profile: {unknown[0]!r}.")


def _round(value: Decimal) -> Decimal:
    return value.quantize(_FOUR_PLACES, rounding=ROUND_HALF_UP)
