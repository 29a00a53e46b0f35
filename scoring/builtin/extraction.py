"""From a posting's text to the requirements it states, each with the exact span that says so."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from operations.llm.untrusted import tries_to_steer
from scoring.builtin import facts, wording
from scoring.builtin.roles import find_roles, find_title_skills
from scoring.builtin.sections import Item, Section, iter_items
from scoring.builtin.vocabulary import LONGEST_TEXT, find_skills, is_soft_skill
from scoring.contracts import Requirement, Scope, Tier
from scoring.posting_text import posting_text

MOST_REQUIREMENTS = 40

_ROLE_WEIGHT = 3.0
_ROLE_SHARE = 0.6  # of everything else: over a thin posting the title alone must not decide
_LEAST_ROLE_WEIGHT = 0.5
_UNKNOWN_ROLE_WEIGHT = 1.0  # a title the table of roles cannot place says little
_DUTIES_SHARE = 0.35  # of the weight of everything else: sentences are the weakest evidence either way
_FEWEST_WORDS = 3
_MOST_PLACES = 4
_LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class _Draft:
    kind: str
    item: Item
    tier: Tier
    weight: float
    terms: tuple[str, ...] = ()
    scope: Scope = Scope.RESUME


def extract_requirements(*, title: str, description: str) -> tuple[Requirement, ...]:
    """At most ``MOST_REQUIREMENTS``, in reading order, the title's own first.

    () where the description asks for nothing: a title alone is no basis for a score.
    """
    text = posting_text(title, description[:LONGEST_TEXT])
    body = len(title) + 2
    drafts = list(_draft_items(text, body))
    if not any(draft.scope is Scope.RESUME for draft in drafts):
        drafts = [*drafts, *_draft_plain_sentences(text, body)]
    if not any(draft.scope is Scope.RESUME for draft in drafts):
        return ()
    chosen = _balance_duties(_choose_drafts(drafts, text, room=MOST_REQUIREMENTS - 1))
    found = [*_draft_role(text, title, chosen), *chosen]
    return tuple(_number_requirement(draft, text, index) for index, draft in enumerate(found, start=1))


def find_warnings(*, title: str, description: str) -> tuple[str, ...]:
    """Bounded codes about the text itself: ``posting_steers``, ``posting_truncated``."""
    read = description[:LONGEST_TEXT]
    warnings = []
    sentences = (read[item.start : item.end] for item in iter_items(read))
    if tries_to_steer(title[:_LONGEST_TITLE]) or any(map(tries_to_steer, sentences)):
        warnings.append("posting_steers")
    if len(description) > LONGEST_TEXT:
        warnings.append("posting_truncated")
    return tuple(warnings)


def _draft_role(text: str, title: str, others: list[_Draft]) -> Iterator[_Draft]:
    start = len(title) - len(title.lstrip())
    end = len(title.rstrip())
    if start < end and len(title) <= _LONGEST_TITLE and not tries_to_steer(title):
        most = _ROLE_WEIGHT if find_roles(title) else _UNKNOWN_ROLE_WEIGHT
        weight = max(min(most, _ROLE_SHARE * _sum_weights(others)), _LEAST_ROLE_WEIGHT)
        yield _Draft("role", Item(start, end, Section.MUST, False), Tier.MUST, weight, find_title_skills(title))


def _draft_items(text: str, body: int) -> Iterator[_Draft]:
    for item in iter_items(text, body=body):
        if item.section is Section.IGNORED:
            continue
        for part in _split_wish(text, item):
            words = text[part.start : part.end]
            if not tries_to_steer(words) and not wording.is_boilerplate(words):
                yield from _draft_item(part, words)


def _split_wish(text: str, item: Item) -> Iterator[Item]:
    """ "3 years of Python, ideally with Django" is a must and a wish."""
    tail = None if item.section is Section.NICE else wording.NICE_TAIL.search(text, item.start + 12, item.end)
    if tail is None or item.end - tail.end() < 12:
        yield item
        return
    yield replace(item, end=item.start + len(text[item.start : tail.start()].rstrip()))
    yield replace(item, start=tail.end(), section=Section.NICE)


def _draft_item(item: Item, words: str) -> Iterator[_Draft]:
    is_wish = item.section in (Section.MUST, Section.NICE)
    tier = Tier.NICE if item.section is Section.NICE or wording.is_nice(words) else Tier.MUST
    skills = find_skills(wording.drop_unwanted(words))
    hard = tuple(name for name in skills if not is_soft_skill(name))
    emphasis = wording.get_emphasis(words)
    if item.section is not Section.OPEN and not item.bulleted and wording.is_about_employer(words):
        return
    if not hard and wording.is_waived(words):
        return
    logistics = _find_logistics(words, hard, is_listed=item.section is not Section.OPEN)
    if logistics is not None:
        yield _Draft(logistics, item, tier, 1.0, scope=Scope.LOGISTICS)
        if logistics == "authorization" or not hard:
            return
    if _only_refuses(words):
        return
    if item.section is Section.OPEN and not _asks_in_prose(item, words, hard):
        return
    asks = item.section is not Section.DUTY or wording.WISH.search(words) is not None
    years = facts.find_years(words) if asks else None
    asks_for_none = years == 0
    years = years or None
    degree = facts.find_degree(words) if asks and (is_wish or hard or years) else None
    languages = (
        facts.find_languages(words, needs_cue=not is_wish or _count_words(words) > 4) if asks and not years else ()
    )
    if years is not None:
        yield _Draft("experience", item, tier, 1.5 * emphasis, hard)
    if degree is not None:
        yield _Draft("education", item, tier, 0.75)
        if facts.find_study_fields(words) and years is None and len(hard) <= 1:
            return
    if languages:
        yield _Draft("language", item, tier, 0.75, languages)
    elif years is None and hard:
        yield _draft_skill(item, tier, hard, emphasis)
    elif years is None and degree is None and not asks_for_none:
        yield from _draft_sentence(item, tier, words, skills, is_wish=is_wish)


def _only_refuses(words: str) -> bool:
    """ "We do not use Django" asks for nothing."""
    rest = wording.drop_refused(words)
    return rest != words and _count_words(rest) < _FEWEST_WORDS and not find_skills(rest) and bool(find_skills(words))


def _asks_in_prose(item: Item, words: str, hard: tuple[str, ...]) -> bool:
    is_list = len(hard) >= 3 and len(words.split()) <= 4 * len(hard)
    return not wording.is_about_employer(words) and (
        item.bulleted or is_list or wording.is_nice(words) or wording.WISH.search(words) is not None
    )


def _find_logistics(words: str, hard: tuple[str, ...], *, is_listed: bool) -> str | None:
    if wording.is_waived(words):
        return None
    if facts.CLEARANCE.search(words) or facts.LICENCE.search(words) or facts.AUTHORIZATION.search(words):
        return "authorization"
    if facts.PLACE.search(words) and not (hard and is_listed) and " | " not in words:
        return "place"
    return None


def _draft_skill(item: Item, tier: Tier, hard: tuple[str, ...], emphasis: float) -> _Draft:
    spread = min(1.0 + 0.25 * (len(hard) - 1), 2.0)
    if item.section is Section.DUTY:
        return _Draft("duty", item, tier, 0.6, hard)
    if item.section is Section.OPEN:
        return _Draft("skill", item, tier, 0.75 * spread, hard)
    return _Draft("skill", item, tier, spread * emphasis, hard)


def _draft_sentence(item: Item, tier: Tier, words: str, skills: tuple[str, ...], *, is_wish: bool) -> Iterator[_Draft]:
    if item.section is Section.OPEN or _count_words(words) < _FEWEST_WORDS or _has_address(words):
        return
    if item.section is Section.DUTY and not item.bulleted and not wording.speaks_to_reader(words):
        return
    if skills:
        yield _Draft("skill" if is_wish else "duty", item, tier, 0.2, skills)
    else:
        yield _Draft("duty", item, tier, 0.4 if item.bulleted or is_wish else 0.3)


def _draft_plain_sentences(text: str, body: int) -> Iterator[_Draft]:
    """For a posting without headings and without one known skill: its sentences are all there is."""
    for item in iter_items(text, body=body):
        words = text[item.start : item.end]
        if item.section is Section.IGNORED or _count_words(words) < 5 or _has_address(words):
            continue
        if not tries_to_steer(words) and not wording.is_boilerplate(words) and wording.WISH.search(words):
            yield _Draft("duty", item, Tier.NICE if wording.is_nice(words) else Tier.MUST, 0.4)


def _has_address(words: str) -> bool:
    return "http" in words or "@" in words


def _count_words(words: str) -> int:
    # A script without spaces writes about two characters to a word.
    return max(len(words.split()), sum(1 for letter in words if letter > "\u3000") // 2)


def _choose_drafts(drafts: list[_Draft], text: str, *, room: int) -> list[_Draft]:
    seen: set[tuple[str, str]] = set()
    unique: list[_Draft] = []
    places = 0
    for draft in drafts:
        key = (draft.kind, " ".join(text[draft.item.start : draft.item.end].lower().split()))
        places += draft.kind == "place"
        if key not in seen and not (draft.kind == "place" and places > _MOST_PLACES):
            seen.add(key)
            unique.append(draft)
    ranked = sorted(range(len(unique)), key=lambda index: (-_get_rank(unique[index]), index))
    return [unique[index] for index in sorted(ranked[:room])]


def _balance_duties(drafts: list[_Draft]) -> list[_Draft]:
    duties = _sum_weights([draft for draft in drafts if draft.kind == "duty"])
    others = _ROLE_WEIGHT + _sum_weights([draft for draft in drafts if draft.kind != "duty"])
    share = min(1.0, _DUTIES_SHARE * others / duties) if duties else 1.0
    return [replace(draft, weight=draft.weight * share) if draft.kind == "duty" else draft for draft in drafts]


def _sum_weights(drafts: list[_Draft]) -> float:
    return sum(draft.weight for draft in drafts if draft.scope is Scope.RESUME)


def _get_rank(draft: _Draft) -> float:
    if draft.scope is Scope.LOGISTICS:
        return 5.0 if draft.kind == "authorization" else 0.5
    return draft.weight * (1.25 if draft.tier is Tier.MUST else 1.0)


def _number_requirement(draft: _Draft, text: str, index: int) -> Requirement:
    start, end = draft.item.start, draft.item.end
    return Requirement(
        id=f"r{index}",
        text=text[start:end],
        kind=draft.kind,
        scope=draft.scope,
        tier=draft.tier,
        weight=max(round(draft.weight, 3), 0.001),
        start=start,
        end=end,
        terms=draft.terms,
    )
