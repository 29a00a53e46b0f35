"""How far a description may be trusted (behaviours, section B). Pure."""

from typing import Final

from discovery.contracts import ActiveState, Confidence, ContentTier

# Characters needed for (high with an application URL, medium); None = this tier never earns it.
_THRESHOLDS: Final[dict[ContentTier, tuple[int | None, int]]] = {
    ContentTier.SOURCE_PAYLOAD: (200, 200),
    ContentTier.JSON_LD: (200, 200),
    ContentTier.SELECTORS: (400, 200),
    ContentTier.MODEL: (None, 400),
    ContentTier.READABLE_TEXT: (None, 200),
}


def rate_confidence(*, tier: ContentTier, description: str, apply_url: str) -> Confidence:
    """Surrounding white space counts neither as description nor as a URL."""
    length = len(description.strip())
    high, medium = _THRESHOLDS[tier]
    if high is not None and length >= high and apply_url.strip():
        return Confidence.HIGH
    return Confidence.MEDIUM if length >= medium else Confidence.LOW


def is_quarantined(confidence: Confidence, active: ActiveState, *, override: bool) -> bool:
    """An operator's override answers for the confidence, never for an unknown active state."""
    return active is ActiveState.UNKNOWN or (confidence is Confidence.LOW and not override)
