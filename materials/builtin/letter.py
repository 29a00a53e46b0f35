"""A short cover letter: the candidate's own facts in fixed frames, chosen for one posting."""

import re
from collections.abc import Iterable, Iterator, Sequence

from discovery.contracts import Experience, ProfileDocument
from materials.builtin.contacts import list_contacts
from materials.builtin.letter_plan import ParagraphPlan, plan_paragraphs
from materials.builtin.ranking import (
    PostingSkills,
    RankedBullet,
    SkillFinder,
    order_experience,
    rank_bullets,
    read_posting,
)
from materials.builtin.wording import clean_company, clean_title
from materials.contracts import LetterDocument, Line
from materials.grounding import frames
from materials.grounding.placeholders import find_leftovers
from materials.grounding.sentences import split_sentences
from scoring.contracts import Fit, FitReport

MAX_WORDS = 255
_MAX_SKILLS = 6
_FIRST_PERSON = re.compile(r"^(?:I|My) ")


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
    ranked = rank_bullets(profile, report=report, posting=posting)
    opening = tuple(_write_opening(profile, role, named, description, posting))
    closing = tuple(Line(text) for text in (_choose_invitation(named), frames.ENCLOSURE, frames.THANKS))
    budget = MAX_WORDS - _count_words((*opening, *closing)) - len(profile.name.split()) - 8
    met = {item.requirement.id for item in report.items if item.fit in (Fit.DIRECT, Fit.STRONG)}
    plans = plan_paragraphs(ranked, met=met, posting=posting, description=description, budget=budget)
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


def _write_paragraph(plan: ParagraphPlan, profile: ProfileDocument, *, lead: Experience | None) -> Iterator[Line]:
    """``lead`` is the first paragraph's experience, None while writing that one."""
    if plan.asked:
        frame = frames.REQUIREMENT_NEXT if lead else frames.REQUIREMENT_FIRST
        yield Line(frame.format(requirement=plan.asked))
    said: list[Experience] = []
    for entry in plan.bullets:
        before = said[-1] if said else lead
        steps_back = before is not None and entry.experience.start < before.start
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


def _choose_invitation(company: str) -> str:
    return frames.INVITATION_COMPANY.format(company=company) if frames.is_known(company) else frames.INVITATION


def _count_words(lines: Iterable[Line]) -> int:
    return sum(len(line.text.split()) for line in lines)
