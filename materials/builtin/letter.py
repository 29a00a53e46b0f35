"""A short cover letter: the candidate's own facts in fixed frames, chosen for one posting."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from discovery.contracts import Experience, ProfileDocument
from materials.builtin.contacts import list_contacts
from materials.builtin.ranking import (
    PostingSkills,
    RankedBullet,
    SkillFinder,
    order_experience,
    rank_bullets,
    rate_addition,
    read_posting,
)
from materials.builtin.wording import choose_requirement, clean_company, clean_title
from materials.contracts import LetterDocument, Line
from materials.grounding import frames
from materials.grounding.grammar import follows_subject
from materials.grounding.placeholders import find_leftovers
from materials.grounding.sentences import split_sentences
from scoring.contracts import FitReport

MAX_WORDS = 255
COMFORTABLE_WORDS = 215  # below this, more facts are added
_PER_PARAGRAPH = 2
_LONG_BULLET = 34  # words; a longer one makes a heavy sentence
_SHORT_BULLET = 5
_MAX_SKILLS = 6
_FIRST_PERSON = re.compile(r"^(?:I|My) ")
_KIND_VALUE = {"work": 1.0, "project": 0.6, "volunteer": 0.5}


@dataclass(frozen=True, slots=True)
class _Plan:
    """One paragraph: the requirement it opens with, and bullets of one or two experiences."""

    requirement: str
    bullets: tuple[RankedBullet, ...]


def write_letter(
    profile: ProfileDocument,
    *,
    report: FitReport,
    title: str,
    company: str,
    description: str,
    date: str = "",
    find_skills: SkillFinder | None = None,
) -> LetterDocument:
    """150 to 260 words where the profile has that much to say, fewer where it has not; nothing is padded.

    ``date`` is ISO or "". An unknown company is left out of greeting and text; no placeholder is ever written.
    """
    posting = read_posting(report=report, title=title, description=description, find_skills=find_skills)
    named, role = clean_company(company), clean_title(title)
    ranked = _rank_for_letter(rank_bullets(profile, report=report, posting=posting))
    opening = tuple(_write_opening(profile, role, named, description, posting))
    closing = tuple(Line(text) for text in (_choose_invitation(named), frames.ENCLOSURE, frames.THANKS))
    budget = MAX_WORDS - _count_words((*opening, *closing)) - len(profile.name.split()) - 8
    plans = _plan_paragraphs(ranked, description=description, budget=budget)
    lead = plans[0].bullets[0].experience if plans else None
    body = [tuple(_write_paragraph(plan, profile, lead=lead if number else None)) for number, plan in enumerate(plans)]
    return LetterDocument(
        name=profile.name,
        contacts=list_contacts(profile),
        company=named,
        title=role,
        greeting=frames.choose_greeting(named),
        paragraphs=(opening, *body, closing),
        closing=frames.CLOSINGS[0],
        signature=profile.name,
        date=date,
    )


def _write_opening(
    profile: ProfileDocument, title: str, company: str, description: str, posting: PostingSkills
) -> Iterator[Line]:
    yield Line(frames.choose_opening(title=title, company=company))
    yield from _introduce(profile)
    skills = _choose_skills(profile, description, posting)
    if len(skills) > 1:
        names = frames.join_names([name for _, name in skills])
        yield Line(frames.SKILLS.format(skills=names), tuple(skill_id for skill_id, _ in skills))


def _introduce(profile: ProfileDocument) -> Iterator[Line]:
    """The summary's first usable sentence, else the present or last job, else nothing."""
    for sentence in split_sentences(profile.summary)[:2]:
        if find_leftovers(sentence):
            continue
        framed = frames.render_role(sentence) or (sentence if _FIRST_PERSON.match(sentence) else None)
        if framed is not None:
            yield Line(framed, ("summary",))
            return
    for item in order_experience(profile):
        for sentence in frames.list_position_sentences(profile, experience=item):
            yield Line(sentence, (item.id,))
            return


def _choose_skills(profile: ProfileDocument, description: str, posting: PostingSkills) -> list[tuple[str, str]]:
    """Skills that the posting names in the candidate's spelling, in the posting's order."""
    found: dict[str, tuple[int, str, str]] = {}
    for skill in profile.skills:
        match = re.search(rf"(?<![\w+#]){re.escape(skill.name)}(?![\w+#])", description, re.IGNORECASE)
        if match is not None and posting.list_shared(skill.name):
            found.setdefault(skill.name.casefold(), (match.start(), skill.id, skill.name))
    return [(skill_id, name) for _, skill_id, name in sorted(found.values())][:_MAX_SKILLS]


def _rank_for_letter(ranked: Iterable[RankedBullet]) -> list[RankedBullet]:
    """Bullets by what they are worth as a sentence of a letter; a job says more to an employer than a hobby."""
    return sorted(
        ranked,
        key=lambda entry: (
            -entry.value * _rate_sentence(entry.bullet.text) * _KIND_VALUE.get(entry.experience.kind, 0.5)
        ),
    )


def _rate_sentence(text: str) -> float:
    words = len(text.split())
    rate = 1.0 if follows_subject(text) else 0.35
    return rate * (0.6 if words > _LONG_BULLET or words < _SHORT_BULLET else 1.0)


def _plan_paragraphs(ranked: Sequence[RankedBullet], *, description: str, budget: int) -> list[_Plan]:
    """Two paragraphs from different experiences; the second may close with a third one."""
    if not ranked:
        return []
    lead = ranked[0].experience
    others = [entry for entry in ranked if entry.experience != lead]
    first = _choose_varied([entry for entry in ranked if entry.experience == lead], answered=set())
    answered = {requirement.id for entry in first for requirement in entry.requirements}
    second: list[RankedBullet] = []
    if others:
        next_lead = others[0].experience
        second = _choose_varied([entry for entry in others if entry.experience == next_lead], answered=answered)
    rest = [entry for entry in ranked if entry not in (*first, *second)]
    kept_first, kept_second = first[:1], second[:1]
    used = sum(_cost(entry) for entry in (*kept_first, *kept_second))
    for entry in (*first[1:], *second[1:], *rest):
        kept = kept_first if entry.experience == lead else kept_second
        is_extra = entry in rest
        if is_extra and (used >= budget - (MAX_WORDS - COMFORTABLE_WORDS) or len(kept) > 2 or not kept):
            continue
        if used + _cost(entry) > budget or _is_second_quote(entry, (*kept_first, *kept_second)):
            continue
        _place_entry(kept, entry)
        used += _cost(entry)
    asked = choose_requirement(kept_first[0].requirements, description=description, exclude="")
    asked_next = choose_requirement(
        kept_second[0].requirements if kept_second else (), description=description, exclude=asked
    )
    plans = [_Plan(asked, tuple(kept_first)), _Plan(asked_next, tuple(kept_second))]
    return [plan for plan in plans if plan.bullets]


def _place_entry(kept: list[RankedBullet], entry: RankedBullet) -> None:
    """Beside the others of its experience, so that "I also" follows what it belongs to."""
    places = [index for index, other in enumerate(kept) if other.experience == entry.experience]
    kept.insert(places[-1] + 1 if places else len(kept), entry)


def _choose_varied(entries: Sequence[RankedBullet], *, answered: set[str]) -> list[RankedBullet]:
    """The best ones, each worth more where it answers a requirement that none before it did."""
    chosen: list[RankedBullet] = []
    seen = set(answered)
    left = list(entries)
    while left and len(chosen) < _PER_PARAGRAPH:
        best = max(left, key=lambda entry: rate_addition(entry, seen) * _rate_sentence(entry.bullet.text))
        left.remove(best)
        chosen.append(best)
        seen |= {requirement.id for requirement in best.requirements}
    return chosen


def _write_paragraph(plan: _Plan, profile: ProfileDocument, *, lead: Experience | None) -> Iterator[Line]:
    """``lead`` is the first paragraph's experience, None while writing that one."""
    if plan.requirement:
        frame = frames.REQUIREMENT_NEXT if lead else frames.REQUIREMENT_FIRST
        yield Line(frame.format(requirement=plan.requirement))
    said: list[Experience] = []
    for entry in plan.bullets:
        steps_back = lead is not None and not said and entry.experience.start < lead.start
        sentence = _write_fact(entry, profile, said=said, steps_back=steps_back)
        if sentence:
            yield Line(sentence, (entry.bullet.id,))
            said.append(entry.experience)


def _write_fact(entry: RankedBullet, profile: ProfileDocument, *, said: Sequence[Experience], steps_back: bool) -> str:
    """The job is named in full at first, then "I also", then its employer alone; no two in a row begin alike."""
    item, fact = entry.experience, entry.bullet.text
    times = said.count(item)
    preferred: list[str] = [frames.ALSO] if times == 1 else []
    if item.kind == "work":
        if steps_back and frames.is_earlier(profile, experience=item):
            preferred.append(frames.WORK_EARLIER)
        preferred += [frames.WORK_SHORT, frames.ALSO] if times else [frames.WORK_FULL, frames.WORK_SHORT]
    for frame in preferred:
        sentence = frames.render_fact(frame, fact=fact, experience=item)
        if sentence is not None:
            return sentence
    return next(frames.list_fact_sentences(profile, fact=fact, experience=item), "")


def _is_second_quote(entry: RankedBullet, chosen: Iterable[RankedBullet]) -> bool:
    """Quoted bullets are a makeshift: one beside spoken ones is fine, a row of them is not a letter."""
    if follows_subject(entry.bullet.text):
        return False
    return any(not follows_subject(other.bullet.text) and other.experience == entry.experience for other in chosen)


def _choose_invitation(company: str) -> str:
    return frames.INVITATION_COMPANY.format(company=company) if frames.is_known(company) else frames.INVITATION


def _cost(entry: RankedBullet) -> int:
    return len(entry.bullet.text.split()) + 8


def _count_words(lines: Iterable[Line]) -> int:
    return sum(len(line.text.split()) for line in lines)
