"""Lanes and providers in words."""

from collections.abc import Sequence
from typing import Final

LANE_WORDS: Final = {
    "analysis": "Reading what a posting asks for",
    "score": "Scoring",
    "tailor": "Writing resumes",
    "cover": "Writing cover letters",
    "judge": "Checking documents",
    "apply": "Filling in applications",
    "research": "Looking for contacts",
    "outreach": "Writing to contacts",
    "extraction": "Reading posting pages",
    "role_filter": "Choosing roles",
    "import": "Reading resumes",
}
PROVIDER_WORDS: Final = {
    "builtin": "the built-in engine",
    "openai": "OpenAI or compatible",
    "anthropic": "Anthropic",
    "google": "Google",
}
_REFUSALS: Final = {
    "authentication": "it does not accept the key",
    "out_of_credit": "the account is out of credit",
}


def name_lane(lane: str) -> str:
    return LANE_WORDS.get(lane, lane)


def name_provider(provider: str) -> str:
    return PROVIDER_WORDS.get(provider, provider)


def describe_refusal(reason_code: str) -> str:
    """Why a provider refuses the account, after "since"."""
    return _REFUSALS.get(reason_code, "it refuses this account")


def join_lanes(lanes: Sequence[str]) -> str:
    """``scoring and writing resumes``; of many, the first three."""
    words = [name_lane(lane).lower() for lane in lanes]
    if len(words) > 3:
        return f"{', '.join(words[:3])} and {len(words) - 3} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
