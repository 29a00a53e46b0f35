"""The job page's section on where a posting was seen, how far its text is trusted, and what it may be a copy of."""

from typing import Any
from uuid import UUID

from discovery.queries import find_snapshot_facts, list_duplicates, list_sightings
from operations.job_panels import job_panel

TIERS = {
    "source_payload": "the board itself",
    "json_ld": "the page's structured data",
    "selectors": "a known page layout",
    "readable_text": "the page's readable text",
    "model": "a model's reading of the page",
}
REASONS = {
    "equal_description": "its text is the same",
    "equal_application_url": "it leads to the same application",
    "similar_description": "its text is nearly the same",
}


@job_panel("sightings", template="discovery/_sightings_panel.html", place=30)
def read_sightings_panel(job_id: UUID) -> dict[str, Any] | None:
    sightings = list_sightings(job_id)
    if not sightings:
        return None
    facts = find_snapshot_facts(job_id)
    return {
        "sightings": sightings,
        "facts": facts,
        "tier": TIERS.get(facts.tier, facts.tier) if facts else "",
        "duplicates": [
            {"job": other, "why": REASONS.get(other.reason, other.reason)} for other in list_duplicates(job_id)
        ],
    }
