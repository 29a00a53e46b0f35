"""Which of the candidate's facts speak to this posting, and how strongly."""

import re
from collections.abc import Callable, Set
from dataclasses import dataclass

from discovery.contracts import Bullet, Experience, ProfileDocument
from materials.grounding.placeholders import find_leftovers
from scoring.contracts import Fit, FitReport, Requirement, Scope, Tier

SkillFinder = Callable[[str], tuple[str, ...]]

_FIT = {Fit.DIRECT: 1.0, Fit.STRONG: 0.85, Fit.TRANSFERABLE: 0.6}
_TIER = {Tier.MUST: 1.25, Tier.NICE: 1.0}
_NUMBER = re.compile(r"\d")
_SKILL_VALUE = 0.5
_NUMBER_VALUE = 0.6
_RECENT_VALUE = 0.9
_RECENT_DECAY = 0.75
_PARENT_SHARE = 0.1
_NEW_ANSWER = 0.8
_WORD_VALUE = 0.3
_MOST_WORDS = 4
# Six letters are enough of a stem to see that "settles" answers "settle".
_STEM = re.compile(r"[^\W\d_]{5,}")
_EMPTY_WORDS = (
    "about above across after again along among applications backend based better build building built company could "
    "create created design designed develop developed developer development driven engineer engineering every "
    "excellent experience experienced first good great helped implement implemented including knowledge large looking "
    "model month months never other people person platform position product production project quality related remote "
    "required requirements responsible right senior service services skills small software solid start strong system "
    "systems teams their there these things three through tools under understanding using value wants where which "
    "while within without working would write years young yours should ideally bring offer apply hours improve "
    "improved maintain support ensure world doubles moves"
)
_EMPTY_STEMS = frozenset(word[:6] for word in _EMPTY_WORDS.split())


@dataclass(frozen=True, slots=True)
class RankedBullet:
    """``value`` has no unit; ``requirements`` are those the report supports with this bullet, musts first."""

    bullet: Bullet
    experience: Experience
    value: float
    requirements: tuple[Requirement, ...] = ()
    skills: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PostingSkills:
    """What the posting asks for, as canonical names, and how to find such names elsewhere."""

    names: frozenset[str]
    find: SkillFinder
    stems: frozenset[str] = frozenset()

    def list_shared(self, text: str) -> frozenset[str]:
        return self.names.intersection(self.find(text))

    def count_shared_words(self, text: str) -> int:
        """Words of the trade ("ledger", "invoices") that both use; every one counts once."""
        return len(self.stems.intersection(_list_stems(text)))


def read_posting(*, report: FitReport, title: str, description: str, find_skills: SkillFinder | None) -> PostingSkills:
    find = find_skills or _get_finder()
    terms = {term for item in report.items for term in item.requirement.terms}
    names = frozenset((*find(f"{title}\n{description}"), *terms))
    return PostingSkills(names, find, _list_stems(f"{title}\n{description}"))


def order_experience(profile: ProfileDocument) -> tuple[Experience, ...]:
    """Newest first: what still goes on, then by end and start; undated ones last in the profile's order."""
    return tuple(
        sorted(
            profile.experience,
            key=lambda item: (bool(item.start or item.end), item.end or ("9999" if item.start else ""), item.start),
            reverse=True,
        )
    )


def rank_bullets(profile: ProfileDocument, *, report: FitReport, posting: PostingSkills) -> tuple[RankedBullet, ...]:
    """All usable bullets, best first; ties keep the profile's order. A bullet with a placeholder is not usable."""
    ages: dict[str, int] = {}
    ranked: list[RankedBullet] = []
    for item in order_experience(profile):
        recency = _RECENT_VALUE * _RECENT_DECAY ** ages.get(item.kind, 0)
        recency *= 1.0 if item.kind == "work" else 0.5
        ages[item.kind] = ages.get(item.kind, 0) + 1
        for bullet in item.bullets:
            if find_leftovers(bullet.text):
                continue
            shared = posting.list_shared(bullet.text)
            value = _sum_evidence(report, bullet.id) + _PARENT_SHARE * _sum_evidence(report, item.id) + recency
            value += _SKILL_VALUE * len(shared) + (_NUMBER_VALUE if _NUMBER.search(bullet.text) else 0.0)
            value += _WORD_VALUE * min(posting.count_shared_words(bullet.text), _MOST_WORDS)
            ranked.append(RankedBullet(bullet, item, value, list_answered(report, bullet.id), shared))
    return tuple(sorted(ranked, key=lambda entry: -entry.value))


def rate_addition(entry: RankedBullet, answered: Set[str]) -> float:
    """The bullet's worth beside others: more for each requirement that is not yet answered."""
    return entry.value + _NEW_ANSWER * sum(requirement.id not in answered for requirement in entry.requirements)


def list_answered(report: FitReport, evidence_id: str) -> tuple[Requirement, ...]:
    """The requirements this evidence answers: musts first, then by weight."""
    found = [
        item.requirement
        for item in report.items
        if evidence_id in item.evidence_ids and item.fit in _FIT and item.requirement.scope == Scope.RESUME
    ]
    return tuple(sorted(found, key=lambda requirement: (requirement.tier != Tier.MUST, -requirement.weight)))


def _sum_evidence(report: FitReport, evidence_id: str) -> float:
    """Weights are relative to the heaviest requirement, so that engines with other scales rank alike."""
    heaviest = max((item.requirement.weight for item in report.items), default=0.0)
    if heaviest <= 0:
        return 0.0
    return sum(
        item.requirement.weight / heaviest * _TIER[item.requirement.tier] * _FIT.get(item.fit, 0.0)
        for item in report.items
        if evidence_id in item.evidence_ids and item.requirement.scope == Scope.RESUME
    )


def _list_stems(text: str) -> frozenset[str]:
    return frozenset(word[:6] for word in _STEM.findall(text.casefold())) - _EMPTY_STEMS


def _get_finder() -> SkillFinder:
    from scoring.queries import find_skills

    return find_skills
