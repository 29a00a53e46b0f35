"""Plain data of tailored documents. Standard library only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a document and the profile evidence it comes from."""

    text: str
    evidence_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResumeEntry:
    """One experience, school or credential as shown. ``evidence_id`` is its own profile id."""

    evidence_id: str
    title: str
    organization: str = ""
    location: str = ""
    dates: str = ""
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillLine:
    group: str
    skills: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ContactLine:
    """``href`` is "" where the text is not a link."""

    text: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class ResumeDocument:
    """A tailored resume: the candidate's own words, chosen and ordered for one posting."""

    name: str
    label: str
    contacts: tuple[ContactLine, ...]
    summary: tuple[Line, ...]
    skills: tuple[SkillLine, ...]
    experience: tuple[ResumeEntry, ...]
    projects: tuple[ResumeEntry, ...] = ()
    education: tuple[ResumeEntry, ...] = ()
    credentials: tuple[ResumeEntry, ...] = ()
    language: str = "en"
    awards: tuple[ResumeEntry, ...] = ()  # and publications
    languages: tuple[ResumeEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class LetterDocument:
    """A cover letter. A sentence about the candidate carries the evidence it states; others carry none."""

    name: str
    contacts: tuple[ContactLine, ...]
    company: str
    title: str
    greeting: str
    paragraphs: tuple[tuple[Line, ...], ...]
    closing: str
    signature: str
    date: str = ""  # ISO date, or "" to leave it out
    language: str = "en"
