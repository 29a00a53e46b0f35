"""The table of the behaviours, section B, row by row."""

import pytest

from discovery.confidence import is_quarantined, rate_confidence
from discovery.contracts import ActiveState, Confidence, ContentTier

LOW, MEDIUM, HIGH = Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH
URL = "https://jobs.example.com/apply"


@pytest.mark.parametrize(
    ("tier", "length", "with_url", "without_url"),
    [
        (ContentTier.SOURCE_PAYLOAD, 0, LOW, LOW),
        (ContentTier.SOURCE_PAYLOAD, 199, LOW, LOW),
        (ContentTier.SOURCE_PAYLOAD, 200, HIGH, MEDIUM),
        (ContentTier.SOURCE_PAYLOAD, 400, HIGH, MEDIUM),
        (ContentTier.JSON_LD, 199, LOW, LOW),
        (ContentTier.JSON_LD, 200, HIGH, MEDIUM),
        (ContentTier.SELECTORS, 199, LOW, LOW),
        (ContentTier.SELECTORS, 200, MEDIUM, MEDIUM),
        (ContentTier.SELECTORS, 399, MEDIUM, MEDIUM),
        (ContentTier.SELECTORS, 400, HIGH, MEDIUM),
        (ContentTier.MODEL, 199, LOW, LOW),
        (ContentTier.MODEL, 399, LOW, LOW),
        (ContentTier.MODEL, 400, MEDIUM, MEDIUM),
        (ContentTier.MODEL, 9000, MEDIUM, MEDIUM),
        (ContentTier.READABLE_TEXT, 199, LOW, LOW),
        (ContentTier.READABLE_TEXT, 200, MEDIUM, MEDIUM),
        (ContentTier.READABLE_TEXT, 9000, MEDIUM, MEDIUM),
    ],
)
def test_it_rates_by_tier_length_and_application_url(
    tier: ContentTier, length: int, with_url: Confidence, without_url: Confidence
) -> None:
    text = "x" * length

    assert rate_confidence(tier=tier, description=text, apply_url=URL) is with_url
    assert rate_confidence(tier=tier, description=text, apply_url="") is without_url


def test_it_knows_every_tier() -> None:
    for tier in ContentTier:
        rate_confidence(tier=tier, description="", apply_url="")


def test_it_counts_no_white_space_around_the_text() -> None:
    padded = "x" * 199 + " \n" * 50

    assert rate_confidence(tier=ContentTier.JSON_LD, description=padded, apply_url=URL) is LOW
    assert rate_confidence(tier=ContentTier.JSON_LD, description="x" * 200, apply_url="  ") is MEDIUM


@pytest.mark.parametrize(
    ("confidence", "active", "override", "quarantined"),
    [
        (LOW, ActiveState.ACTIVE, False, True),
        (LOW, ActiveState.ACTIVE, True, False),
        (LOW, ActiveState.CLOSED, False, True),
        (MEDIUM, ActiveState.ACTIVE, False, False),
        (MEDIUM, ActiveState.CLOSED, False, False),
        (HIGH, ActiveState.ACTIVE, False, False),
        (HIGH, ActiveState.UNKNOWN, False, True),
        (HIGH, ActiveState.UNKNOWN, True, True),
        (LOW, ActiveState.UNKNOWN, True, True),
    ],
)
def test_it_quarantines_low_confidence_and_unknown_states(
    confidence: Confidence, active: ActiveState, override: bool, quarantined: bool
) -> None:
    assert is_quarantined(confidence, active, override=override) is quarantined
