"""A resume for one posting, made only of the candidate's own words."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from discovery.contracts import Experience, ProfileDocument
from materials.builtin.contacts import list_contacts
from materials.builtin.dates import format_month, format_span
from materials.builtin.layout import FIRST_BULLET, estimate_bullet, estimate_bullets, estimate_lines
from materials.builtin.limits import TWO_PAGES, ResumeLimits, list_plans
from materials.builtin.ranking import (
    PostingSkills,
    RankedBullet,
    SkillFinder,
    order_experience,
    rank_bullets,
    rate_addition,
    read_posting,
)
from materials.contracts import Line, ResumeDocument, ResumeEntry, SkillLine
from materials.grounding.placeholders import find_leftovers
from materials.grounding.resume_gate import VOLUNTEER_MARK
from materials.grounding.sentences import split_sentences
from scoring.contracts import FitReport

_RECENT_JOBS = 2


def tailor_resume(
    profile: ProfileDocument,
    *,
    report: FitReport,
    title: str,
    company: str,
    description: str,
    limits: ResumeLimits | None = None,
    find_skills: SkillFinder | None = None,
) -> ResumeDocument:
    """Chooses, orders and trims; writes nothing. Every job keeps its place and dates, so that no gap appears.

    Without ``limits`` it aims at one page for up to ten years of work, else at two. Same input, same document.
    """
    posting = read_posting(report=report, title=f"{title}\n{company}", description=description, find_skills=find_skills)
    ranked = rank_bullets(profile, report=report, posting=posting)
    for plan in (limits,) if limits else list_plans(profile):
        jobs, frame = _draft_frame(profile, ranked=ranked, posting=posting, limits=plan)
        room = plan.lines - estimate_lines(frame)
        if _estimate_wanted(jobs, ranked, limit=plan.enough_bullets) <= room:
            break
    chosen = _choose_bullets(jobs, ranked, plan, lines=room)
    return replace(frame, experience=tuple(_make_job(item, chosen[item.id]) for item in jobs))


def _draft_frame(
    profile: ProfileDocument, *, ranked: Sequence[RankedBullet], posting: PostingSkills, limits: ResumeLimits
) -> tuple[list[Experience], ResumeDocument]:
    """Everything but the jobs' bullets, and the jobs to be shown: employers first, then volunteering."""
    ordered = order_experience(profile)
    work = [item for item in ordered if item.kind == "work"]
    volunteering = [item for item in ordered if item.kind == "volunteer"]
    jobs = [*work, *volunteering[: limits.volunteering if work else None]]
    projects = [item for item in ordered if item.kind == "project"]
    frame = ResumeDocument(
        name=profile.name,
        label=profile.label,
        contacts=list_contacts(profile),
        summary=_choose_summary(profile, posting, limits),
        skills=_order_skills(profile, posting, limits),
        experience=tuple(_make_job(item, []) for item in jobs),
        projects=tuple(_choose_projects(projects, ranked, posting, limits if jobs else TWO_PAGES)),
        education=_list_education(profile),
        credentials=_list_credentials(profile, ("certificate",), limits.credentials),
        awards=_list_credentials(profile, ("award", "publication"), limits.awards),
        languages=_list_languages(profile),
    )
    # Only a profile that no two pages can hold loses jobs, and then its oldest.
    while len(jobs) > 1 and estimate_lines(frame) > max(limits.lines, TWO_PAGES.lines):
        jobs.pop()
        frame = replace(frame, experience=frame.experience[: len(jobs)])
    return jobs, frame


def _estimate_wanted(jobs: Sequence[Experience], ranked: Sequence[RankedBullet], *, limit: int) -> float:
    """Lines for so many of the best bullets, one of each job among them."""
    shown = {job.id for job in jobs}
    wanted = [entry for entry in ranked if entry.experience.id in shown]
    telling = len({entry.experience.id for entry in wanted})
    return estimate_bullets((entry.bullet.text for entry in wanted[:limit]), entries=telling)


def _choose_bullets(
    jobs: Sequence[Experience], ranked: Sequence[RankedBullet], limits: ResumeLimits, *, lines: float
) -> dict[str, list[RankedBullet]]:
    """The best bullet of every job first, then what adds most within each job's share and the room left.

    A bullet adds more while it answers a requirement that none chosen before it does.
    """
    shares = {item.id: _get_share(age, item, limits) for age, item in enumerate(jobs)}
    chosen: dict[str, list[RankedBullet]] = {item.id: [] for item in jobs}
    left = [entry for entry in ranked if entry.experience.id in shares]
    firsts = [next((entry for entry in left if entry.experience.id == item.id), None) for item in jobs]
    waiting = [entry for entry in firsts if entry is not None]
    answered: set[str] = set()
    room = lines
    while left and sum(map(len, chosen.values())) < limits.bullets:
        entry = waiting.pop(0) if waiting else max(left, key=lambda entry: rate_addition(entry, answered))
        left.remove(entry)
        cost = estimate_bullet(entry.bullet.text) + (0.0 if chosen[entry.experience.id] else FIRST_BULLET)
        if cost > room or len(chosen[entry.experience.id]) >= shares[entry.experience.id]:
            continue
        chosen[entry.experience.id].append(entry)
        room -= cost
        answered |= {requirement.id for requirement in entry.requirements}
    return {key: sorted(taken, key=lambda entry: -entry.value) for key, taken in chosen.items()}


def _get_share(age: int, item: Experience, limits: ResumeLimits) -> int:
    if item.kind == "volunteer":
        return 1
    return limits.bullets_per_job if age < _RECENT_JOBS else max(1, limits.bullets_per_old_job + _RECENT_JOBS - age)


def _make_job(item: Experience, chosen: Sequence[RankedBullet]) -> ResumeEntry:
    mark = VOLUNTEER_MARK if item.kind == "volunteer" else ""
    lines = tuple(Line(entry.bullet.text, (entry.bullet.id,)) for entry in chosen)
    if not lines and item.summary and not item.bullets and not find_leftovers(item.summary):
        lines = (Line(item.summary, (item.id,)),)
    return ResumeEntry(
        evidence_id=item.id,
        title=item.position if item.organization else f"{item.position}{mark}",
        organization=f"{item.organization}{mark}" if item.organization else "",
        location=item.location,
        dates=format_span(item.start, item.end),
        lines=lines,
    )


def _choose_projects(
    projects: Iterable[Experience], ranked: Sequence[RankedBullet], posting: PostingSkills, limits: ResumeLimits
) -> list[ResumeEntry]:
    """The projects that share most with the posting, each with its description and best bullet."""

    def get_value(item: Experience) -> float:
        shared = posting.list_shared(" ".join((item.summary, *item.keywords)))
        return len(shared) + sum(entry.value for entry in ranked if entry.experience.id == item.id)

    entries: list[ResumeEntry] = []
    for item in sorted(projects, key=get_value, reverse=True)[: limits.projects]:
        best = [entry for entry in ranked if entry.experience.id == item.id][: 1 if item.summary else 2]
        lines = [Line(item.summary, (item.id,))] if item.summary and not find_leftovers(item.summary) else []
        lines += [Line(entry.bullet.text, (entry.bullet.id,)) for entry in best]
        entries.append(
            ResumeEntry(
                evidence_id=item.id,
                title=item.position or item.organization,
                organization=item.organization if item.position else "",
                dates=format_span(item.start, item.end),
                lines=tuple(lines),
            )
        )
    return entries


def _choose_summary(profile: ProfileDocument, posting: PostingSkills, limits: ResumeLimits) -> tuple[Line, ...]:
    """The first sentence and those that share most with the posting, in the candidate's order."""
    sentences = [text for text in split_sentences(profile.summary) if text[0] != "(" and not find_leftovers(text)]
    ranked = sorted(range(1, len(sentences)), key=lambda index: -len(posting.list_shared(sentences[index])))
    kept = sorted([0, *ranked[: limits.summary_sentences - 1]]) if sentences else []
    return tuple(Line(sentences[index], ("summary",)) for index in kept)


def _order_skills(profile: ProfileDocument, posting: PostingSkills, limits: ResumeLimits) -> tuple[SkillLine, ...]:
    """What the posting asks for leads its group, groups without any go last; the rest as far as there is room."""
    asked = {skill.id for skill in profile.skills if posting.list_shared(skill.name)}
    groups: dict[str, list[Line]] = {}
    relevant = {skill.group for skill in profile.skills if skill.id in asked}
    for skill in sorted(profile.skills, key=lambda skill: skill.id not in asked)[: limits.skills]:
        groups.setdefault(skill.group, []).append(Line(skill.name, (skill.id,)))
    places = list(dict.fromkeys(skill.group for skill in profile.skills))
    order = sorted(groups, key=lambda group: (group not in relevant, places.index(group)))
    return tuple(SkillLine(group, tuple(groups[group])) for group in order)


def _list_education(profile: ProfileDocument) -> tuple[ResumeEntry, ...]:
    ordered = sorted(profile.education, key=lambda item: (item.end or item.start, item.start), reverse=True)
    entries: list[ResumeEntry] = []
    for item in ordered:
        subject = ", ".join(part for part in (item.degree, item.area) if part)
        entries.append(
            ResumeEntry(
                evidence_id=item.id,
                title=subject or item.institution,
                organization=item.institution if subject else "",
                dates=format_span(item.start, item.end),
            )
        )
    return tuple(entries)


def _list_credentials(profile: ProfileDocument, kinds: Sequence[str], limit: int) -> tuple[ResumeEntry, ...]:
    """By kind in the order given, within a kind as the candidate has them."""
    known = [item for item in profile.credentials if item.kind in kinds]
    kept = sorted(known, key=lambda item: kinds.index(item.kind))[:limit]
    return tuple(
        ResumeEntry(evidence_id=item.id, title=item.name, organization=item.detail, dates=format_month(item.date))
        for item in kept
    )


def _list_languages(profile: ProfileDocument) -> tuple[ResumeEntry, ...]:
    spoken = [item for item in profile.credentials if item.kind == "language"]
    return tuple(ResumeEntry(evidence_id=item.id, title=item.name, organization=item.detail) for item in spoken)
