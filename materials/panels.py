"""The job page's section on the documents: what was written, beside the posting, each line with its source."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from discovery.queries import find_posting
from materials.artifact_files import ArtifactCorrupt, ArtifactMissing
from materials.contracts import Line, ResumeDocument, ResumeEntry
from materials.line_sources import Notes, Sources, name_places, read_sources
from materials.queries import (
    ArtifactRow,
    CurrentLetter,
    CurrentResume,
    find_letter,
    find_resume,
    get_artifact_files,
    list_artifacts,
)
from operations.job_panels import job_panel

LABELS = {"resume_pdf": "Resume (PDF)", "letter_pdf": "Cover letter (PDF)"}


@job_panel("documents", template="materials/_documents_panel.html", place=20)
def read_documents_panel(job_id: UUID) -> dict[str, Any] | None:
    resume, letter, posting = find_resume(job_id), find_letter(job_id), find_posting(job_id)
    if resume is None and letter is None and posting is None:
        return None
    files = describe_files(list_artifacts([job_id]))
    return {
        "files": files,
        "is_broken": any(row["trouble"] for row in files),
        "resume": describe_resume(resume) if resume else None,
        "letter": describe_letter(letter) if letter else None,
        "posting": posting,
    }


def describe_files(files: Iterable[ArtifactRow]) -> list[dict[str, Any]]:
    """The newest file of each kind, and what is wrong with it on disk; ``files`` come newest first."""
    newest: dict[str, ArtifactRow] = {}
    for file in files:
        newest.setdefault(file.kind, file)
    return [
        {"label": LABELS.get(kind, kind), "file": file, "trouble": find_trouble(file)}
        for kind, file in sorted(newest.items(), reverse=True)
    ]


def find_trouble(file: ArtifactRow) -> str:
    """Reads the whole file, as a download does; "" where it is what was printed."""
    try:
        get_artifact_files().read(file.sha256)
    except ArtifactMissing:
        return "the file is missing"
    except ArtifactCorrupt:
        return "the file was changed on disk"
    return ""


def describe_resume(resume: CurrentResume) -> dict[str, Any]:
    sources = read_sources(resume.profile_version)
    return {
        "version": resume.version,
        "profile_version": resume.profile_version,
        "sections": [section for section in list_sections(resume.document, sources) if section["entries"]],
    }


def list_sections(document: ResumeDocument, sources: Sources) -> list[dict[str, Any]]:
    """The parts of the printed resume in its order."""

    def describe(heading: str, entries: Sequence[ResumeEntry]) -> dict[str, Any]:
        return {"heading": heading, "entries": [describe_entry(entry, sources) for entry in entries]}

    summary = [{"title": "", "place": "", "lines": [describe_line(line, sources) for line in document.summary]}]
    skills = [
        {"title": group.group, "place": "", "lines": [describe_skills(group.skills, sources)]}
        for group in document.skills
    ]
    return [
        {"heading": "Summary", "entries": summary if document.summary else []},
        {"heading": "Skills", "entries": skills},
        describe("Experience", document.experience),
        describe("Projects", document.projects),
        describe("Education", document.education),
        describe("Certificates", document.credentials),
        describe("Awards and publications", document.awards),
        describe("Languages", document.languages),
    ]


def describe_entry(entry: ResumeEntry, sources: Sources) -> dict[str, Any]:
    """An entry without lines of its own is itself the fact, so its source stands beside it."""
    return {
        "title": entry.title,
        "place": ", ".join(part for part in (entry.organization, entry.location, entry.dates) if part),
        "source": "" if entry.lines else name_places([entry.evidence_id], sources),
        "lines": [describe_line(line, sources) for line in entry.lines],
    }


def describe_line(line: Line, sources: Sources) -> dict[str, str]:
    return {"text": line.text, "source": name_places(line.evidence_ids, sources)}


def describe_skills(skills: Sequence[Line], sources: Sources) -> dict[str, str]:
    cited = [evidence_id for skill in skills for evidence_id in skill.evidence_ids]
    return {"text": ", ".join(skill.text for skill in skills), "source": name_places(cited, sources)}


def describe_letter(letter: CurrentLetter) -> dict[str, Any]:
    """The letter's own profile version says what its sentences state, which need not be the resume's."""
    notes = Notes(read_sources(letter.profile_version))
    paragraphs = [
        [{"text": line.text, "notes": notes.number(line)} for line in lines] for lines in letter.document.paragraphs
    ]
    return {
        "version": letter.version,
        "profile_version": letter.profile_version,
        "document": letter.document,
        "paragraphs": paragraphs,
        "sources": notes.list_sources(),
    }
