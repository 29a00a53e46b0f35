"""What discovery adds to shared pages: the job page's section on where a posting was seen, how far its text is trusted
and what it may be a copy of; the run page's boards; the dashboard's first steps and the boards that need a person; the
sidebar."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.urls import reverse

from discovery.board_words import PASSES_BY_ITSELF, describe_failure
from discovery.listing import has_enabled_source, list_failing_sources
from discovery.queries import (
    find_newest_profile_version,
    find_snapshot_facts,
    list_duplicates,
    list_sightings,
)
from discovery.run_sources import explain_failed_runs, list_run_sources
from operations.first_steps import first_step
from operations.job_panels import job_panel
from operations.navigation import Page, add_page
from operations.needs import Need, needs_person
from operations.run_panels import RunFacts, run_failure, run_panel
from operations.wording import Wording

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


@run_panel("boards", workflow_type="DiscoverWorkflow", template="discovery/_run_boards_panel.html", place=10)
def read_boards_panel(run: RunFacts) -> dict[str, Any] | None:
    sources = list_run_sources(run)
    return {"sources": sources, "failed": sum(bool(source.remedy) for source in sources)} if sources else None


@run_failure("DiscoverWorkflow")
def explain_failed_discoveries(runs: Sequence[RunFacts]) -> dict[str, Wording]:
    return explain_failed_runs(runs)


add_page(Page("Discovery", "discovery:sources", "Sources", 10, "o"))


@first_step(
    place=10,
    title="Import your profile",
    text="A JSON Resume: everything that scores, resumes and letters may say of you.",
    url_name="discovery:profile",
    action="Open the profile",
)
def has_profile() -> bool:
    return find_newest_profile_version() > 0


@first_step(
    place=20,
    title="Choose where to look",
    text="Add the board of an employer you like, or the sample boards that come with JobCtrl.",
    url_name="discovery:sources",
    action="Choose boards",
)
def has_source() -> bool:
    return has_enabled_source()


@needs_person
def list_board_needs(limit: int) -> list[Need]:
    """Boards that fail and that no later run will read by itself. The registry is small: tens of rows."""
    return [
        Need(
            f"board-{source.id}",
            f"The board {source.name} could not be read",
            reverse("discovery:sources"),
            (state := describe_failure(source.error_code)),
            f"{state.sentence} Or turn it off.".strip(),
            source.failed_at,
        )
        for source in list_failing_sources(limit=limit, less=PASSES_BY_ITSELF)
    ]
