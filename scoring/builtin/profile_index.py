"""A candidate's profile prepared for matching, once per version of the profile."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from discovery.contracts import Evidence, ProfileDocument
from scoring.builtin import facts
from scoring.builtin.likeness import SentenceIndex
from scoring.builtin.roles import find_roles, list_role_skills
from scoring.builtin.vocabulary import find_skills, list_implied_skills

_KIND_ORDER = {"bullet": 0, "experience": 1, "skill": 2, "credential": 3, "education": 4, "summary": 5}
_OPEN = 10**6  # a month after every other


@dataclass(frozen=True, slots=True)
class Stint:
    """One experience: months since year 0, ``end`` inclusive; ``start`` is ``None`` without a date."""

    evidence_id: str
    position: str
    organization: str
    start: int | None
    end: int
    is_work: bool
    roles: tuple[str, ...]
    skills: frozenset[str]


@dataclass(frozen=True, slots=True)
class Proof:
    """One piece of evidence for one skill; ``through`` names the skill that implies it, else ""."""

    evidence_id: str
    kind: str
    stint: Stint | None
    through: str = ""


@dataclass(frozen=True, slots=True)
class School:
    evidence_id: str
    text: str
    level: int
    fields: frozenset[str]


@dataclass(frozen=True)
class ProfileIndex:
    evidence: tuple[Evidence, ...]
    stints: tuple[Stint, ...]
    proofs: dict[str, tuple[Proof, ...]]
    schools: tuple[School, ...]
    languages: dict[str, Evidence]
    label_roles: tuple[str, ...]
    sentences: SentenceIndex
    english_evidence_id: str


@lru_cache(maxsize=8)
def build_profile_index(profile: ProfileDocument) -> ProfileIndex:
    """Cached by the profile's content: the same version is read once."""
    evidence = tuple(profile.iter_evidence())
    stints = _read_stints(profile)
    languages = {
        name: Evidence(item.id, "credential", f"{item.name}, {item.detail}" if item.detail else item.name)
        for item in profile.credentials
        if item.kind == "language"
        for name in facts.find_languages(item.name, needs_cue=False)
    }
    return ProfileIndex(
        evidence=evidence,
        stints=tuple(stints.values()),
        proofs=_collect_proofs(evidence, stints),
        schools=tuple(
            School(item.id, text, facts.find_highest_degree(text) or facts.BACHELOR, facts.find_study_fields(text))
            for item in profile.education
            for text in [", ".join(part for part in (item.degree, item.area, item.institution) if part)]
        ),
        languages=languages,
        label_roles=find_roles(profile.label) if profile.summary else (),
        sentences=SentenceIndex([(item.id, item.text) for item in evidence if item.kind != "skill"]),
        english_evidence_id=_find_english(evidence),
    )


def _read_stints(profile: ProfileDocument) -> dict[str, Stint]:
    stints: dict[str, Stint] = {}
    for item in profile.experience:
        roles = find_roles(item.position)
        text = [item.position, item.summary, ", ".join(item.keywords), *(bullet.text for bullet in item.bullets)]
        shown = {skill for part in text for skill in find_skills(part)} | {
            skill for role in roles for skill in list_role_skills(role)
        }
        implied = {other for skill in shown for other in list_implied_skills(skill)}
        start = _read_month(item.start)
        end = _read_month(item.end)
        if end is None:
            end = _OPEN if item.kind == "work" or not start else start
        stints[item.id] = Stint(
            item.id,
            item.position,
            item.organization,
            start,
            end,
            item.kind == "work",
            roles,
            frozenset(shown | implied),
        )
    return stints


def _read_month(value: str) -> int | None:
    """A year alone stands for its middle, so that 2018 to 2020 is two years."""
    match = re.match(r"(\d{4})(?:-(\d{1,2}))?", value)
    return int(match.group(1)) * 12 + (int(match.group(2)) - 1 if match.group(2) else 6) if match else None


def _collect_proofs(evidence: Sequence[Evidence], stints: dict[str, Stint]) -> dict[str, tuple[Proof, ...]]:
    found: dict[str, list[tuple[tuple[bool, int, int, int], Proof]]] = {}
    for position, item in enumerate(evidence):
        stint = stints.get(item.parent_id or item.id)
        shown = list(find_skills(item.text))
        if stint is not None and item.kind == "experience":
            shown += [skill for role in stint.roles for skill in list_role_skills(role) if skill not in shown]
        rank = (_KIND_ORDER.get(item.kind, 9), -(stint.end if stint else 0), position)
        for skill in shown:
            found.setdefault(skill, []).append(((False, *rank), Proof(item.id, item.kind, stint)))
        for skill in shown:
            for implied in sorted(list_implied_skills(skill)):
                if implied not in shown:
                    found.setdefault(implied, []).append(((True, *rank), Proof(item.id, item.kind, stint, skill)))
    return {skill: _order_proofs(ranked) for skill, ranked in found.items()}


def _order_proofs(ranked: Iterable[tuple[tuple[bool, int, int, int], Proof]]) -> tuple[Proof, ...]:
    ordered = sorted(ranked, key=lambda pair: pair[0])
    return tuple({proof.evidence_id: proof for _, proof in reversed(ordered)}.values())[::-1]


def _find_english(evidence: Sequence[Evidence]) -> str:
    """A profile written in English shows English; its first long sentence is the evidence."""
    for item in evidence:
        words = re.findall(r"[a-z]+", item.text.lower())
        if len(words) >= 6 and sum(word in ("the", "and", "of", "to", "for", "in", "with", "a") for word in words) >= 2:
            return item.id
    return ""


def count_months(stints: Iterable[Stint], *, today: date) -> int:
    """Months worked; what overlaps is counted once, what lies ahead not at all."""
    now = today.year * 12 + today.month - 1
    spans = sorted(
        (stint.start, min(stint.end, now)) for stint in stints if stint.start is not None and stint.start <= now
    )
    total, covered = 0, -1
    for start, end in spans:
        first = max(start, covered + 1)
        if end >= first:
            total += end - first + 1
            covered = end
    return total


def list_work(index: ProfileIndex) -> tuple[Stint, ...]:
    return tuple(stint for stint in index.stints if stint.is_work)


def get_last_year(stint: Stint, *, today: date) -> int | None:
    """``None`` while it goes on."""
    return None if stint.end >= today.year * 12 + today.month - 1 else stint.end // 12
