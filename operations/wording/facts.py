"""The facts that a run was asked with and came to, as pairs of words."""

import re
from collections.abc import Mapping
from typing import Final

_LABELS: Final = {
    "families": "Kinds of source",
    "familiesFailed": "Kinds of source that failed",
    "profileVersion": "Profile version",
    "stage": "Step",
    "jobs": "Jobs",
    "steps": "Steps",
    "completed": "Steps done",
    "stoppedAt": "Stopped at",
    "state": "Because it was",
    "code": "Reason code",
    "new": "New jobs",
    "existing": "Known jobs",
    "updated": "Changed postings",
    "postings": "Postings read",
    "skipped": "Postings skipped",
    "beyondLimit": "Beyond the limit",
    "enriched": "Postings read in full",
    "enrichFailed": "Not readable",
    "planned": "Jobs to prepare",
    "started": "Preparations started",
    "notEligible": "Left out",
    "succeeded": "Done",
    "pending": "Waiting",
    "sources_succeeded": "Sources read",
    "sources_failed": "Sources that failed",
}
_HIDDEN: Final = frozenset({"kind"})


def describe_facts(facts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Label and value of each fact, empty and zero ones left out, in the order of the labels."""
    order = list(_LABELS)
    known = sorted(facts, key=lambda name: order.index(name) if name in order else len(order))
    return [
        (_LABELS.get(name) or _space_out(name), str(facts[name]).replace(",", ", "))
        for name in known
        if name not in _HIDDEN and str(facts[name]) not in ("", "0")
    ]


def _space_out(name: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()
    return words[:1].upper() + words[1:]
