"""The profile and its differences as the pages say them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any, Final

from discovery.contracts import Credential, Experience, ProfileDocument
from discovery.profile_import import FieldChange, PartChange, ProfileDifference
from operations.wording import Tone, Wording

KINDS: Final = {"work": "Work", "volunteer": "Volunteering", "project": "Projects"}
CREDENTIALS: Final = {
    "certificate": "Certificates",
    "award": "Awards",
    "publication": "Publications",
    "language": "Languages",
}
PARTS: Final = {
    "basics": "Who you are",
    "link": "Links",
    "experience": "Experience",
    "skill": "Skills",
    "education": "Education",
    "credential": "Certificates, awards, publications and languages",
}
CHANGES: Final = {
    "added": Wording("Added", Tone.GOOD),
    "removed": Wording("Removed", Tone.IDLE),
    "changed": Wording("Changed", Tone.WAITING),
}
FIELDS: Final = {
    "label": "What you are",
    "email": "E-mail",
    "phone": "Telephone",
    "url": "Web address",
    "country_code": "Country",
    "end": "Until",
    "title": "Spelling",
}


def describe_document(document: ProfileDocument) -> dict[str, Any]:
    """The read view: who, experience by kind, skills by group, education, credentials by kind."""
    return {
        "document": document,
        "place": ", ".join(part for part in (document.city, document.region, document.country_code) if part),
        "experience": [
            {"title": KINDS.get(kind, kind), "entries": [_describe_experience(item) for item in items]}
            for kind, items in groupby(document.experience, key=lambda item: item.kind)
        ],
        "skills": [
            {"group": group, "level": level, "names": [skill.name for skill in skills]}
            for (group, level), skills in groupby(document.skills, key=lambda skill: (skill.group, skill.level))
        ],
        "education": [
            {"item": item, "period": describe_period(item.start, item.end, is_open=False)}
            for item in document.education
        ],
        "credentials": [
            {"title": CREDENTIALS.get(kind, kind), "entries": [_describe_credential(item) for item in items]}
            for kind, items in groupby(document.credentials, key=lambda item: item.kind)
        ],
    }


def _describe_experience(item: Experience) -> dict[str, Any]:
    return {
        "item": item,
        "title": item.position or item.organization,
        "where": " · ".join(part for part in (item.organization if item.position else "", item.location) if part),
        "period": describe_period(item.start, item.end, is_open=True),
    }


def _describe_credential(item: Credential) -> dict[str, Any]:
    return {"item": item, "date": describe_date(item.date)}


def describe_period(start: str, end: str, *, is_open: bool) -> str:
    """``Apr 2022 – now``; "" where neither date is known. ``is_open``: no end means that it goes on."""
    first, last = describe_date(start), describe_date(end)
    if not first:
        return f"until {last}" if last else ""
    if last == first:
        return first
    return f"{first} – {last or 'now'}" if last or is_open else f"since {first}"


def describe_date(value: str) -> str:
    """A partial date of the profile, ``2022-04``, as ``Apr 2022``."""
    if len(value) < 7:
        return value
    day = date(int(value[:4]), int(value[5:7]), 1)
    return f"{day:%b} {day.year}"


@dataclass(frozen=True, slots=True)
class SaidChange:
    """One line of a difference. ``names`` are several small parts that changed alike; ``is_whole``: nothing was there
    before, so that single words need no marks."""

    chip: Wording
    title: str
    detail: str = ""
    names: str = ""
    fields: tuple[tuple[str, str, str], ...] = ()
    added: Sequence[str] = ()
    removed: Sequence[str] = ()
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class SaidPart:
    title: str
    changes: list[SaidChange]


def describe_difference(difference: ProfileDifference) -> list[SaidPart]:
    """The changes under the headings of the profile page; many skills added or removed share a line."""
    said = []
    for part, run in groupby(difference.changes, key=lambda change: change.part):
        changes = list(run)
        lines = _say_small(changes) if part == "skill" else [_say_change(change) for change in changes]
        said.append(SaidPart(PARTS[part], lines))
    return said


def _say_change(change: PartChange) -> SaidChange:
    detail = "" if change.detail == change.title else change.detail
    shown = (change.title, change.detail) if change.change == "added" else ()
    fields = tuple(_say_field(field) for field in change.fields if field.after not in shown)
    is_whole = change.change == "added"
    return SaidChange(CHANGES[change.change], change.title, detail, "", fields, change.added, change.removed, is_whole)


def _say_field(field: FieldChange) -> tuple[str, str, str]:
    return FIELDS.get(field.name, field.name.replace("_", " ").capitalize()), field.before, field.after


def _say_small(changes: Sequence[PartChange]) -> list[SaidChange]:
    lines = []
    for kind in ("added", "removed"):
        names = [change.title for change in changes if change.change == kind]
        if names:
            lines.append(SaidChange(CHANGES[kind], "", names=", ".join(names)))
    return [*lines, *(_say_change(change) for change in changes if change.change == "changed")]
