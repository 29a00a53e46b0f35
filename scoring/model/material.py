"""What a model is shown of a profile and of requirements: a line each, and nothing that tells who the candidate is."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from discovery.contracts import ProfileDocument
from scoring.builtin import find_skills
from scoring.contracts import Requirement

LONGEST_LINE = 400
LONGEST_PROFILE = 30_000
SOMEBODY: Final = "the candidate"
_LEFT_OUT: Final = "…"
_EMAIL: Final = re.compile(r"\S+@\S+\.\w+")
_LINK: Final = re.compile(r"(?:https?://|www\.)\S+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|me)/\S+", re.IGNORECASE)
_PHONE: Final = re.compile(r"(?<!\w)(?:\+|\(|00?)[\d(][\d\s()./-]{6,}\d")
_SHORTEST_NAME = 3
_WORK: Final = ("experience", "bullet")


def describe_evidence(profile: ProfileDocument) -> str:
    """``id: text`` by line, work last: where not all fits, the oldest work is left out."""
    hide = _make_hiding(profile)
    lines: list[str] = []
    room = LONGEST_PROFILE
    for evidence in sorted(profile.iter_evidence(), key=lambda evidence: evidence.kind in _WORK):
        line = f"{evidence.id}: {_flatten(hide(evidence.text))}"
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def describe_requirements(requirements: Iterable[Requirement]) -> str:
    return "\n".join(f"{asked.id} ({asked.tier}, {asked.kind}): {_flatten(asked.text)}" for asked in requirements)


def _flatten(text: str) -> str:
    """One line: a text with line breaks could pass for another id's."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_LINE else f"{flat[:LONGEST_LINE].rsplit(' ', 1)[0]}{_LEFT_OUT}"


def _make_hiding(profile: ProfileDocument) -> Callable[[str], str]:
    contacts = _match_any([profile.email, profile.phone, profile.url, *(link.url for link in profile.links)])
    # A part of a name that is also a skill ("Ruby") stays: the skill matters more than it tells.
    parts = [part for part in profile.name.split() if len(part) >= _SHORTEST_NAME and not find_skills(part)]
    name = _match_any([profile.name, *parts], edge=r"\b")

    def hide(text: str) -> str:
        for pattern in (contacts, _EMAIL, _LINK, _PHONE):
            text = text if pattern is None else pattern.sub(_LEFT_OUT, text)
        return text if name is None else name.sub(SOMEBODY, text)

    return hide


def _match_any(texts: list[str], *, edge: str = "") -> re.Pattern[str] | None:
    known = sorted({text.strip() for text in texts if text.strip()}, key=len, reverse=True)
    return re.compile(f"{edge}(?:{'|'.join(map(re.escape, known))}){edge}") if known else None
