"""Which facts a letter tells, and under which of the posting's requirements."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from discovery.contracts import Experience
from materials.builtin.ranking import PostingSkills, RankedBullet, rate_addition
from materials.builtin.wording import phrase_requirement
from materials.grounding.grammar import follows_subject
from scoring.contracts import Requirement

COMFORTABLE_WORDS = 40  # while at least as many are left, a third fact is added
_PER_PARAGRAPH = 2
_MOST_FACTS = 3
_LONG_BULLET = 34  # words; a longer one makes a heavy sentence
_SHORT_BULLET = 5
_FRAME_WORDS = 8
_SECOND_SHARE = 0.5
_PHRASE_VALUE = 0.6  # a phrase of the posting reads better than one bare name
_PHRASE_WORDS = 3
_SILENCE = 3.0  # what a paragraph loses that answers nothing by name
_KIND_VALUE = {"work": 1.0, "project": 0.6, "volunteer": 0.5}


@dataclass(frozen=True, slots=True)
class ParagraphPlan:
    """``asked`` is the requirement that opens the paragraph, "" for none; every bullet speaks to it."""

    asked: str
    bullets: tuple[RankedBullet, ...]


@dataclass(frozen=True, slots=True)
class _Topic:
    """What one experience has to say, best first; ``skills`` are canonical names of what is asked for."""

    experience: Experience
    facts: tuple[RankedBullet, ...]
    asked: str = ""
    skills: frozenset[str] = frozenset()


def plan_paragraphs(
    ranked: Sequence[RankedBullet], *, met: Collection[str], posting: PostingSkills, description: str, budget: int
) -> list[ParagraphPlan]:
    """At most two, of different experiences and different requirements; ``budget`` is in words.

    Only a requirement whose id is among ``met`` opens a paragraph: a letter does not name what is half answered.
    """
    spoken = sorted(ranked, key=lambda entry: -_rate_fact(entry))
    topics = _choose_topics(spoken, met=met, posting=posting, description=description)
    kept: list[list[RankedBullet]] = [[] for _ in topics]
    left = budget
    for turn in range(_MOST_FACTS):
        for topic, chosen in zip(topics, kept, strict=True):
            told = {entry.bullet.id for taken in kept for entry in taken}
            entry = next((fact for fact in topic.facts if _may_follow(fact, chosen, told)), None)
            is_extra = turn >= _PER_PARAGRAPH and left < COMFORTABLE_WORDS
            if entry is not None and not is_extra and _count_words(entry) <= left:
                _place_entry(chosen, entry)
                left -= _count_words(entry)
    plans = [ParagraphPlan(topic.asked, tuple(chosen)) for topic, chosen in zip(topics, kept, strict=True)]
    return [plan for plan in plans if plan.bullets]


def _choose_topics(
    spoken: Sequence[RankedBullet], *, met: Collection[str], posting: PostingSkills, description: str
) -> list[_Topic]:
    """The best pair that repeats neither employer nor requirement; what the posting asks for comes before silence."""
    if not spoken:
        return []
    asked = list(_list_topics(spoken, met=met, posting=posting, description=description))
    silent = _list_silent_topics(spoken)
    pairs = [(first, second) for first, second in product(asked, (*asked, *silent)) if _is_distinct(first, second)]
    if pairs:
        first, second = max(pairs, key=lambda pair: _rate_topic(pair[0]) + _rate_topic(pair[1]))
        if second.asked and _rate_lead(second) > _rate_lead(first):
            first, second = second, first
        return [first, _widen_topic(second, spoken, first=first)]
    alone = max(asked, key=_rate_topic, default=silent[0])
    others = [topic for topic in silent if topic.experience != alone.experience]
    return [alone, *(_widen_topic(topic, spoken, first=alone) for topic in others[:1])]


def _list_topics(
    spoken: Sequence[RankedBullet], *, met: Collection[str], posting: PostingSkills, description: str
) -> Iterator[_Topic]:
    for item in dict.fromkeys(entry.experience for entry in spoken):
        own = [entry for entry in spoken if entry.experience == item]
        requirements: dict[str, Requirement] = {
            requirement.id: requirement for entry in own for requirement in entry.requirements if requirement.id in met
        }
        for requirement in requirements.values():
            answers = [entry for entry in own if requirement in entry.requirements]
            shown = frozenset(skill for entry in answers for skill in entry.skills)
            asked = phrase_requirement(requirement, description=description, shown=shown)
            skills = frozenset(posting.find(asked))
            facts = _list_related(own, skills) or answers
            if asked and follows_subject(facts[0].bullet.text):
                yield _Topic(item, tuple(facts), asked, skills or frozenset(requirement.terms))


def _list_silent_topics(spoken: Sequence[RankedBullet]) -> list[_Topic]:
    """Every experience by its best facts, with nothing asked; a second fact that answers something new counts more."""
    topics: list[_Topic] = []
    for item in dict.fromkeys(entry.experience for entry in spoken):
        left = [entry for entry in spoken if entry.experience == item]
        facts: list[RankedBullet] = []
        answered: set[str] = set()
        while left:
            best = max(left, key=lambda entry: rate_addition(entry, answered) * _rate_sentence(entry.bullet.text))
            left.remove(best)
            facts.append(best)
            answered |= {requirement.id for requirement in best.requirements}
        topics.append(_Topic(item, tuple(facts)))
    return topics


def _widen_topic(topic: _Topic, spoken: Sequence[RankedBullet], *, first: _Topic) -> _Topic:
    """The second paragraph may close with a third experience, where that speaks to the same requirement."""
    others = [entry for entry in spoken if entry.experience not in (first.experience, topic.experience)]
    related = _list_related(others, topic.skills) if topic.asked else others
    return replace(topic, facts=(*topic.facts, *related[:1]))


def _list_related(entries: Iterable[RankedBullet], skills: frozenset[str]) -> list[RankedBullet]:
    return [entry for entry in entries if entry.skills & skills]


def _is_distinct(first: _Topic, second: _Topic) -> bool:
    """Django is asked for once, whether by name or as Python's; so are relational databases and PostgreSQL."""
    if first.experience == second.experience or first.asked.casefold() == second.asked.casefold():
        return False
    return not _add_implied(first.skills) & _add_implied(second.skills)


def _add_implied(skills: frozenset[str]) -> frozenset[str]:
    from scoring.queries import list_implied_skills

    return skills.union(*(list_implied_skills(name) for name in skills))


def _rate_topic(topic: _Topic) -> float:
    rates = [_rate_fact(entry) for entry in topic.facts[:_PER_PARAGRAPH]]
    phrase = _PHRASE_VALUE if len(topic.asked.split()) >= _PHRASE_WORDS else 0.0
    return rates[0] + _SECOND_SHARE * sum(rates[1:]) + (phrase if topic.asked else -_SILENCE)


def _rate_lead(topic: _Topic) -> tuple[bool, float]:
    return topic.experience.kind == "work", _rate_topic(topic)


def _rate_fact(entry: RankedBullet) -> float:
    """Its worth as a sentence of a letter; a job says more to an employer than a hobby."""
    return entry.value * _rate_sentence(entry.bullet.text) * _KIND_VALUE.get(entry.experience.kind, 0.5)


def _rate_sentence(text: str) -> float:
    words = len(text.split())
    rate = 1.0 if follows_subject(text) else 0.35
    return rate * (0.6 if words > _LONG_BULLET or words < _SHORT_BULLET else 1.0)


def _may_follow(entry: RankedBullet, chosen: Sequence[RankedBullet], told: set[str]) -> bool:
    """Quoted bullets are a makeshift: one beside spoken ones is fine, a row of them is not a letter."""
    if entry.bullet.id in told:
        return False
    quoted = [other for other in chosen if not follows_subject(other.bullet.text)]
    return follows_subject(entry.bullet.text) or all(other.experience != entry.experience for other in quoted)


def _place_entry(chosen: list[RankedBullet], entry: RankedBullet) -> None:
    """Beside the others of its experience, so that "I also" follows what it belongs to."""
    places = [index for index, other in enumerate(chosen) if other.experience == entry.experience]
    chosen.insert(places[-1] + 1 if places else len(chosen), entry)


def _count_words(entry: RankedBullet) -> int:
    return len(entry.bullet.text.split()) + _FRAME_WORDS
