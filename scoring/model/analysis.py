"""The lane ``analysis``: what a posting asks for, each requirement with the span of the posting that says so."""

from collections.abc import Callable
from typing import Final

from operations.llm.gateway import Question, ask_model
from operations.llm.ledger import Target
from operations.llm.untrusted import LONGEST_TEXT, RULE, quote_untrusted, tries_to_steer
from scoring import builtin
from scoring.contracts import Analysis, Kind, Requirement, Scope
from scoring.model.answers import AnalysisAnswer, AskedFor
from scoring.model.quotes import QuotedText, fold_text
from scoring.posting_text import posting_text

UNFOUNDED: Final = "requirements_unfounded"
TRUNCATED: Final = "posting_truncated"
NOTHING_FOUND: Final = (
    "None of these quotes is in the posting. Copy each one from the posting character by character and add nothing."
)
NOTHING_ASKED: Final = (
    "This lists nothing that a resume could show. Read the posting once more. Where it does ask for skills, "
    "experience, education, licences, languages or duties, list them; where it does not, give the same answer again."
)
INSTRUCTIONS: Final = f"""\
You read a job posting and list what it asks of a candidate.
List each thing once, in the posting's order: skills, years of experience, education, languages, licences and leave to \
work, place and hours, and the main duties. The posting's first line is its title: list it as kind role.
A quote holds one requirement and is copied from the posting. What only describes the employer or its offer is no \
requirement. Where the posting asks for nothing, answer with an empty list.
{RULE}"""

_ALWAYS_LOGISTICS: Final = frozenset({Kind.PLACE, Kind.AUTHORIZATION})


def analyze_posting(*, title: str, description: str, target: Target) -> Analysis:
    """Raises what ``ask_model`` raises; ``AnswerUnusable`` also where no quote stands in the posting.

    A posting that asks for nothing a resume could show is asked about twice, and has such an analysis then.
    """
    text = posting_text(title, description)
    quoted = fold_text(text)
    answer = ask_model(
        Question(
            lane="analysis",
            instructions=INSTRUCTIONS,
            material=quote_untrusted("posting", text),
            answer_type=AnalysisAnswer,
            check=make_check(quoted),
        ),
        target=target,
    )
    dropped = sum(_find_span(quoted, asked) is None for asked in answer.requirements)
    warnings = [TRUNCATED] if len(text) > LONGEST_TEXT else []
    return Analysis(
        place_requirements(quoted, answer),
        engine=f"{target.provider}:{target.model}",
        warnings=(*warnings, UNFOUNDED) if dropped else tuple(warnings),
        dropped=dropped,
    )


def make_check(quoted: QuotedText) -> Callable[[AnalysisAnswer], str]:
    """For one question: what it says to its first answer is its one repair, so the second may confirm it."""
    complaints: list[str] = []

    def check(answer: AnalysisAnswer) -> str:
        complaint = complain_of_quotes(quoted, answer, is_second=bool(complaints))
        if complaint:
            complaints.append(complaint)
        return complaint

    return check


def complain_of_quotes(quoted: QuotedText, answer: AnalysisAnswer, *, is_second: bool) -> str:
    """ "" where a quote stands in the posting that a resume could answer; a second answer may have none to give."""
    placed = place_requirements(quoted, answer)
    if answer.requirements and not placed:
        return NOTHING_FOUND
    if is_second or any(asked.scope is Scope.RESUME for asked in placed):
        return ""
    return NOTHING_ASKED


def place_requirements(quoted: QuotedText, answer: AnalysisAnswer) -> tuple[Requirement, ...]:
    """Those whose quote stands in the posting, in its order and each once; what speaks to a reading model is none."""
    found: list[tuple[int, int, AskedFor]] = []
    for asked in answer.requirements:
        span = _find_span(quoted, asked)
        if span is not None and not _is_said_again(asked, span, found):
            found.append((*span, asked))
    return tuple(
        Requirement(
            id=f"req-{number}",
            text=quoted.text[start:end],
            kind=asked.kind.value,
            scope=Scope.LOGISTICS if asked.kind in _ALWAYS_LOGISTICS else asked.scope,
            tier=asked.tier,
            weight=asked.weight,
            start=start,
            end=end,
            terms=builtin.find_terms(quoted.text[start:end], kind=asked.kind),
        )
        for number, (start, end, asked) in enumerate(sorted(found, key=lambda one: one[:2]), start=1)
    )


def _is_said_again(asked: AskedFor, span: tuple[int, int], found: list[tuple[int, int, AskedFor]]) -> bool:
    """The same words for the same kind would count twice."""
    return any(one.kind is asked.kind and span[0] < end and start < span[1] for start, end, one in found)


def _find_span(quoted: QuotedText, asked: AskedFor) -> tuple[int, int] | None:
    span = quoted.find(asked.quote)
    return None if span is None or tries_to_steer(quoted.text[slice(*span)]) else span
