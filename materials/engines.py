"""The provider seam of the lanes ``tailor`` and ``cover``: which engine writes documents."""

from collections.abc import Callable
from dataclasses import dataclass

from discovery.contracts import ProfileDocument
from materials.contracts import LetterDocument, ResumeDocument
from scoring.contracts import FitReport


@dataclass(frozen=True, slots=True)
class WritingRequest:
    """What a document is written from; ``date`` is ISO, for the letter's head."""

    profile: ProfileDocument
    report: FitReport
    title: str
    company: str
    description: str
    date: str = ""


def tailor_with_builtin(request: WritingRequest) -> ResumeDocument:
    """The candidate's own bullets and skills, chosen and ordered; no claim is written."""
    from materials.builtin import tailor_resume

    return tailor_resume(
        request.profile,
        report=request.report,
        title=request.title,
        company=request.company,
        description=request.description,
    )


def write_with_builtin(request: WritingRequest) -> LetterDocument:
    from materials.builtin import write_letter

    return write_letter(
        request.profile,
        report=request.report,
        title=request.title,
        company=request.company,
        description=request.description,
        date=request.date,
    )


TAILORS: dict[str, Callable[[WritingRequest], ResumeDocument]] = {"builtin": tailor_with_builtin}
WRITERS: dict[str, Callable[[WritingRequest], LetterDocument]] = {"builtin": write_with_builtin}
