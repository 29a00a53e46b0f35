"""The job page's section on the documents: what was written, beside the posting, each line with its source."""

from typing import Any
from uuid import UUID

from discovery.queries import find_posting, get_profile
from materials.contracts import Line
from materials.queries import find_letter, find_resume, list_artifacts
from operations.errors import MissingInput
from operations.job_panels import job_panel

LABELS = {"resume_pdf": "Resume (PDF)", "letter_pdf": "Cover letter (PDF)"}


@job_panel("documents", template="materials/_documents_panel.html", place=20)
def read_documents_panel(job_id: UUID) -> dict[str, Any] | None:
    resume, letter, posting = find_resume(job_id), find_letter(job_id), find_posting(job_id)
    if resume is None and letter is None and posting is None:
        return None
    sources = read_sources(resume.profile_version) if resume else {}
    newest: dict[str, Any] = {}
    for file in list_artifacts([job_id]):
        newest.setdefault(file.kind, file)
    return {
        "files": [
            {"label": LABELS.get(kind, kind), "file": file, "kilobytes": max(1, file.size // 1000)}
            for kind, file in sorted(newest.items(), reverse=True)
        ],
        "resume": resume,
        "entries": describe_entries(resume.document, sources) if resume else [],
        "letter": letter,
        "paragraphs": [[describe_line(line, sources) for line in lines] for lines in letter.document.paragraphs]
        if letter
        else [],
        "posting": posting,
    }


def read_sources(profile_version: int) -> dict[str, str]:
    """Evidence id to what it is: the experience a bullet stands under, or the fact's own text."""
    try:
        profile = get_profile(profile_version)
    except MissingInput:
        return {}
    names = {item.id: ", ".join(p for p in (item.position, item.organization) if p) for item in profile.experience}
    return {
        evidence.id: names.get(evidence.parent_id or evidence.id, evidence.text) for evidence in profile.iter_evidence()
    }


def describe_entries(document: Any, sources: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "title": entry.title,
            "place": ", ".join(part for part in (entry.organization, entry.dates) if part),
            "lines": [describe_line(line, sources) for line in entry.lines],
        }
        for entry in (*document.experience, *document.projects)
    ]


def describe_line(line: Line, sources: dict[str, str]) -> dict[str, Any]:
    found = [sources[evidence] for evidence in line.evidence_ids if evidence in sources]
    return {"text": line.text, "source": "; ".join(dict.fromkeys(found))}
