"""Is every sentence of a letter either the candidate's own fact in a known frame, or a known phrase?"""

import re
from collections.abc import Iterator
from datetime import date

from discovery.contracts import ProfileDocument
from discovery.contracts.typography import fold_text
from materials.contracts import LetterDocument, Line
from materials.grounding import frames
from materials.grounding.facts import ProfileFacts, check_head, explain_difference, index_facts, is_same
from materials.grounding.placeholders import find_leftovers, find_suspects
from materials.grounding.problems import GroundingProblem, NotGrounded
from materials.grounding.sentences import split_sentences

MAX_REQUIREMENT = 90  # characters of the posting that one sentence may quote
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|our|us)\b", re.IGNORECASE)


def check_letter(document: LetterDocument, *, profile: ProfileDocument, posting: str = "") -> None:
    """Raises NotGrounded, with every problem, unless each sentence is grounded.

    ``posting`` is the posting's text: what the letter says is asked for must stand in it. Without it such a
    sentence may hold no number and no first person, and is otherwise taken as it is.
    """
    problems = list(_iter_problems(document, index_facts(profile), posting))
    if problems:
        raise NotGrounded(problems)


def _iter_problems(document: LetterDocument, facts: ProfileFacts, posting: str) -> Iterator[GroundingProblem]:
    yield from check_head(document.name, contacts=document.contacts, profile=facts.profile)
    if not is_same(document.signature, facts.profile.name):
        yield GroundingProblem("signature", "The letter is not signed with the candidate's name.", document.signature)
    if document.date and not _is_iso_date(document.date):
        yield GroundingProblem("date", "This is not an ISO date.", document.date)
    for field, text in (("company", document.company), ("title", document.title)):
        for found in find_suspects(text):
            yield GroundingProblem(field, f"A placeholder is left: “{found}”.", text)
        if not frames.is_name(text):
            yield GroundingProblem(field, "This is more than a name; it would speak for the candidate.", text)
    greetings = (frames.choose_greeting(document.company), frames.GREETING_UNKNOWN)
    if fold_text(document.greeting) not in {fold_text(text) for text in greetings}:
        yield GroundingProblem("greeting", "This is not one of the greetings for this company.", document.greeting)
    if fold_text(document.closing) not in {fold_text(text) for text in frames.CLOSINGS}:
        yield GroundingProblem("closing", "This is not one of the closings.", document.closing)
    if not any(line.evidence_ids for paragraph in document.paragraphs for line in paragraph):
        yield GroundingProblem("paragraphs", "The letter states nothing of the candidate's own.")
    said: set[str] = set()
    for number, paragraph in enumerate(document.paragraphs):
        for index, line in enumerate(paragraph):
            where = f"paragraphs[{number}][{index}]"
            if fold_text(line.text) in said:
                yield GroundingProblem(where, "The same sentence stands twice.", line.text)
            said.add(fold_text(line.text))
            yield from _check_line(where, line, document, facts, posting)


def _check_line(
    where: str, line: Line, document: LetterDocument, facts: ProfileFacts, posting: str
) -> Iterator[GroundingProblem]:
    for found in find_leftovers(line.text):
        yield GroundingProblem(where, f"A placeholder is left: “{found}”.", line.text)
    unknown = [evidence_id for evidence_id in line.evidence_ids if evidence_id not in facts.evidence]
    for evidence_id in unknown:
        yield GroundingProblem(where, f"The profile has no evidence “{evidence_id}”.", line.text)
    if unknown:
        return
    if not line.evidence_ids:
        reason = _check_free(line.text, document, posting)
    else:
        allowed = [fold_text(text) for text in _list_sentences(line.evidence_ids, facts)]
        sources = [text for evidence_id in line.evidence_ids for text in _list_sources(evidence_id, facts)]
        reason = "" if fold_text(line.text) in allowed else explain_difference(line.text, (*sources, *_FRAME_WORDS))
    if reason:
        yield GroundingProblem(where, reason, line.text)


def _list_sentences(evidence_ids: tuple[str, ...], facts: ProfileFacts) -> Iterator[str]:
    if all(evidence_id in facts.skills for evidence_id in evidence_ids):
        names = [facts.skills[evidence_id].name for evidence_id in evidence_ids]
        yield frames.SKILLS.format(skills=frames.join_names(names))
        return
    if len(evidence_ids) != 1:
        return
    evidence = facts.evidence[evidence_ids[0]]
    if evidence.kind == "summary":
        for sentence in split_sentences(evidence.text):
            yield from frames.list_summary_sentences(sentence)
    elif evidence.kind == "experience":
        yield from frames.list_position_sentences(facts.profile, experience=facts.experience[evidence.id])
    elif evidence.kind == "bullet":
        experience = facts.experience[evidence.parent_id]
        yield from frames.list_fact_sentences(facts.profile, fact=evidence.text, experience=experience)


def _list_sources(evidence_id: str, facts: ProfileFacts) -> Iterator[str]:
    evidence = facts.evidence[evidence_id]
    yield evidence.text
    parent = facts.experience.get(evidence.parent_id)
    if parent is not None:
        yield f"{parent.position} {parent.organization}"


def _check_free(text: str, document: LetterDocument, posting: str) -> str:
    folded = fold_text(text)
    known = frames.list_free_sentences(title=document.title, company=document.company)
    if folded in {fold_text(sentence) for sentence in known}:
        return ""
    for frame in (frames.REQUIREMENT_FIRST, frames.REQUIREMENT_NEXT):
        before, after = frame.split("{requirement}")
        if folded.startswith(before) and folded.endswith(after):
            return _check_requirement(folded[len(before) : len(folded) - len(after)], posting)
    return "It cites no evidence and is not one of the fixed phrases."


def _check_requirement(quoted: str, posting: str) -> str:
    if len(quoted) > MAX_REQUIREMENT or len(split_sentences(quoted)) > 1 or re.search(r"[.!?;:]\s", quoted):
        return "What it says of the posting is too long to be checked."
    if _FIRST_PERSON.search(quoted):
        return "What it says of the posting speaks of the candidate."
    if find_suspects(quoted):
        return f"A placeholder is left: “{find_suspects(quoted)[0]}”."
    if not posting:
        return "It quotes a number of a posting that is not at hand." if re.search(r"\d", quoted) else ""
    source = fold_text(posting).casefold()
    if _holds(source, quoted):
        return ""
    missing = [part for part in re.split(r", | and ", quoted) if not _holds(source, part)]
    return f"The posting does not ask for “{missing[0]}”." if missing else ""


def _holds(source: str, part: str) -> bool:
    pattern = rf"(?<!\w){re.escape(part.casefold())}(?!\w)"
    return bool(part.strip()) and re.search(pattern, source) is not None


def _is_iso_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


_FRAME_WORDS = tuple(
    re.sub(r"\{\w+\}", " ", frame)
    for frame in (
        *(frames.WORK_EARLIER, frames.WORK_QUOTE, frames.VOLUNTEER, frames.VOLUNTEER_QUOTE, frames.PROJECT),
        *(frames.PROJECT_QUOTE, frames.ALSO, frames.SUMMARY_ROLE, frames.CURRENT, frames.LATEST, frames.SKILLS),
    )
)
