"""Is every word of a resume the candidate's own?"""

from collections.abc import Iterator

from discovery.contracts import ProfileDocument
from materials.contracts import Line, ResumeDocument, ResumeEntry
from materials.grounding.facts import ProfileFacts, check_dates, check_head, explain_difference, index_facts, is_same
from materials.grounding.placeholders import find_leftovers
from materials.grounding.problems import GroundingProblem, NotGrounded
from materials.grounding.sentences import split_sentences

VOLUNTEER_MARK = " (volunteer)"


def check_resume(document: ResumeDocument, *, profile: ProfileDocument) -> None:
    """Raises NotGrounded, with every problem, unless each part equals the evidence it cites."""
    problems = list(_iter_problems(document, index_facts(profile)))
    if problems:
        raise NotGrounded(problems)


def _iter_problems(document: ResumeDocument, facts: ProfileFacts) -> Iterator[GroundingProblem]:
    profile = facts.profile
    yield from check_head(document.name, contacts=document.contacts, profile=profile)
    if document.label and not is_same(document.label, profile.label):
        yield GroundingProblem("label", explain_difference(document.label, [profile.label]), document.label)
    for index, line in enumerate(document.summary):
        yield from _check_summary(f"summary[{index}]", line, facts)
    for number, group in enumerate(document.skills):
        where = f"skills[{number}]"
        if group.group and group.group not in {skill.group for skill in profile.skills}:
            yield GroundingProblem(where, "The profile has no skill group of this name.", group.group)
        for index, line in enumerate(group.skills):
            yield from _check_skill(f"{where}.skills[{index}]", line, facts)
    yield from _check_repeats(document)
    for section, entries in (("experience", document.experience), ("projects", document.projects)):
        for index, entry in enumerate(entries):
            yield from _check_experience(f"{section}[{index}]", entry, facts)
    for index, entry in enumerate(document.education):
        yield from _check_education(f"education[{index}]", entry, facts)
    for index, entry in enumerate(document.credentials):
        yield from _check_credential(f"credentials[{index}]", entry, facts)
    for index, entry in enumerate(document.awards):
        yield from _check_credential(f"awards[{index}]", entry, facts)
    for index, entry in enumerate(document.languages):
        yield from _check_credential(f"languages[{index}]", entry, facts)
    for where, text in _iter_texts(document):
        for leftover in find_leftovers(text):
            yield GroundingProblem(where, f"A placeholder is left: “{leftover}”.", text)


def _check_citations(where: str, line: Line, facts: ProfileFacts) -> Iterator[GroundingProblem]:
    if not line.evidence_ids:
        yield GroundingProblem(where, "It cites no evidence.", line.text)
    for evidence_id in line.evidence_ids:
        if evidence_id not in facts.evidence:
            yield GroundingProblem(where, f"The profile has no evidence “{evidence_id}”.", line.text)


def _check_summary(where: str, line: Line, facts: ProfileFacts) -> Iterator[GroundingProblem]:
    bad = list(_check_citations(where, line, facts))
    if bad:
        yield from bad
        return
    summary = facts.profile.summary
    if line.evidence_ids != ("summary",):
        yield GroundingProblem(where, "A summary line cites the profile's summary.", line.text)
    elif not any(is_same(line.text, sentence) for sentence in (summary, *split_sentences(summary))):
        yield GroundingProblem(where, explain_difference(line.text, [summary]), line.text)


def _check_skill(where: str, line: Line, facts: ProfileFacts) -> Iterator[GroundingProblem]:
    bad = list(_check_citations(where, line, facts))
    if bad:
        yield from bad
        return
    names = [facts.skills[evidence_id].name for evidence_id in line.evidence_ids if evidence_id in facts.skills]
    if len(names) != len(line.evidence_ids) or not all(is_same(line.text, name) for name in names):
        yield GroundingProblem(where, explain_difference(line.text, names), line.text)


def _check_repeats(document: ResumeDocument) -> Iterator[GroundingProblem]:
    seen: set[str] = set()
    for section, entries in (
        ("experience", document.experience),
        ("projects", document.projects),
        ("education", document.education),
        ("credentials", document.credentials),
        ("awards", document.awards),
        ("languages", document.languages),
    ):
        for index, entry in enumerate(entries):
            if entry.evidence_id in seen:
                yield GroundingProblem(f"{section}[{index}]", "The same entry is listed twice.", entry.title)
            seen.add(entry.evidence_id)


def _check_experience(where: str, entry: ResumeEntry, facts: ProfileFacts) -> Iterator[GroundingProblem]:
    item = facts.experience.get(entry.evidence_id)
    if item is None:
        yield GroundingProblem(where, f"The profile has no experience “{entry.evidence_id}”.", entry.title)
        return
    mark = VOLUNTEER_MARK if item.kind == "volunteer" else ""
    named = f"{item.organization}{mark}" if item.organization else ""
    title = item.position if item.organization else f"{item.position}{mark}"
    yield from _compare(where, "title", entry.title, title)
    yield from _compare(where, "organization", entry.organization, named)
    if entry.location:
        yield from _compare(where, "location", entry.location, item.location)
    yield from _compare_dates(where, entry.dates, start=item.start, end=item.end)
    section_kind = "project" if where.startswith("projects") else ("work", "volunteer")
    if item.kind not in section_kind:
        yield GroundingProblem(where, "It stands in the wrong section.", entry.title)
    own = {bullet.id: bullet.text for bullet in item.bullets}
    for index, line in enumerate(entry.lines):
        at = f"{where}.lines[{index}]"
        bad = list(_check_citations(at, line, facts))
        yield from bad
        if bad:
            continue
        sources = {**own, item.id: item.summary}
        foreign = [evidence_id for evidence_id in line.evidence_ids if evidence_id not in sources]
        if foreign:
            yield GroundingProblem(at, "It cites evidence of another experience.", line.text)
            continue
        texts = [sources[evidence_id] for evidence_id in line.evidence_ids]
        if not all(is_same(line.text, text) for text in texts):
            yield GroundingProblem(at, explain_difference(line.text, texts), line.text)


def _check_education(where: str, entry: ResumeEntry, facts: ProfileFacts) -> Iterator[GroundingProblem]:
    item = facts.education.get(entry.evidence_id)
    if item is None:
        yield GroundingProblem(where, f"The profile has no education “{entry.evidence_id}”.", entry.title)
        return
    subject = ", ".join(part for part in (item.degree, item.area) if part)
    if not any(is_same(entry.title, text) for text in (subject, item.degree, item.area, item.institution) if text):
        yield GroundingProblem(f"{where}.title", explain_difference(entry.title, [subject]), entry.title)
    if entry.organization:
        yield from _compare(where, "organization", entry.organization, item.institution)
    if entry.location:
        yield GroundingProblem(f"{where}.location", "The profile gives no place here.", entry.location)
    yield from _compare_dates(where, entry.dates, start=item.start, end=item.end)
    for index, line in enumerate(entry.lines):
        if line.evidence_ids != (item.id,):
            yield GroundingProblem(f"{where}.lines[{index}]", "It does not cite this education.", line.text)
        elif not any(is_same(line.text, text) for text in (item.score, *item.courses) if text):
            reason = explain_difference(line.text, (item.score, *item.courses))
            yield GroundingProblem(f"{where}.lines[{index}]", reason, line.text)


def _check_credential(where: str, entry: ResumeEntry, facts: ProfileFacts) -> Iterator[GroundingProblem]:
    item = facts.credentials.get(entry.evidence_id)
    if item is None:
        yield GroundingProblem(where, f"The profile has no credential “{entry.evidence_id}”.", entry.title)
        return
    if where.startswith("languages") and item.kind != "language":
        yield GroundingProblem(where, "It stands in the wrong section.", entry.title)
    yield from _compare(where, "title", entry.title, item.name)
    if entry.organization:
        yield from _compare(where, "organization", entry.organization, item.detail)
    if entry.location:
        yield GroundingProblem(f"{where}.location", "The profile gives no place here.", entry.location)
    reason = check_dates(entry.dates, start=item.date, end="", is_open=False)
    if reason:
        yield GroundingProblem(f"{where}.dates", reason, entry.dates)
    for index, line in enumerate(entry.lines):
        yield GroundingProblem(f"{where}.lines[{index}]", "A credential has no lines of its own.", line.text)


def _compare(where: str, field: str, shown: str, own: str) -> Iterator[GroundingProblem]:
    if not is_same(shown, own):
        yield GroundingProblem(f"{where}.{field}", explain_difference(shown, [own]), shown)


def _compare_dates(where: str, shown: str, *, start: str, end: str) -> Iterator[GroundingProblem]:
    reason = check_dates(shown, start=start, end=end, is_open=bool(start))
    if reason:
        yield GroundingProblem(f"{where}.dates", reason, shown)


def _iter_texts(document: ResumeDocument) -> Iterator[tuple[str, str]]:
    yield "label", document.label
    for index, line in enumerate(document.summary):
        yield f"summary[{index}]", line.text
    for section, entries in (("experience", document.experience), ("projects", document.projects)):
        for number, entry in enumerate(entries):
            for index, line in enumerate(entry.lines):
                yield f"{section}[{number}].lines[{index}]", line.text
