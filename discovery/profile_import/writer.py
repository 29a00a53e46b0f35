"""A ProfileDocument as a JSON Resume v1 file: reading it gives the same document, ids included."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from discovery.contracts import Credential, Education, Experience, ProfileDocument, Skill
from discovery.profile_import.limits import MAX_ENTRIES

SCHEMA = "https://raw.githubusercontent.com/jsonresume/resume-schema/v1.0.0/schema.json"

Row = dict[str, object]


def write_json_resume(document: ProfileDocument) -> dict[str, object]:
    """JSON Resume v1 of what ``read_profile`` gave. What is empty is left out."""
    sections: dict[str, list[Row]] = {
        "work": [_write_work(item) for item in document.experience if item.kind == "work"],
        "volunteer": [_write_volunteer(item) for item in document.experience if item.kind == "volunteer"],
        "projects": [_write_project(item) for item in document.experience if item.kind == "project"],
        "skills": _write_skills(document.skills),
        "education": [_write_education(item) for item in document.education],
        "certificates": [
            _keep(name=item.name, issuer=item.detail, date=item.date, url=item.url)
            for item in _pick(document.credentials, "certificate")
        ],
        "awards": [
            _keep(title=item.name, awarder=item.detail, date=item.date) for item in _pick(document.credentials, "award")
        ],
        "publications": [
            _keep(name=item.name, publisher=item.detail, releaseDate=item.date, url=item.url)
            for item in _pick(document.credentials, "publication")
        ],
        "languages": [
            _keep(language=item.name, fluency=item.detail) for item in _pick(document.credentials, "language")
        ],
    }
    filled: Row = {name: rows for name, rows in sections.items() if rows}
    return {"$schema": SCHEMA, "basics": _write_basics(document), **filled}


def _write_basics(document: ProfileDocument) -> Row:
    location = _keep(city=document.city, region=document.region, countryCode=document.country_code)
    return _keep(
        name=document.name,
        label=document.label,
        email=document.email,
        phone=document.phone,
        url=document.url,
        summary=document.summary,
        location=location,
        profiles=[_keep(network=link.network, url=link.url) for link in document.links],
    )


def _write_work(item: Experience) -> Row:
    return _keep(
        name=item.organization,
        position=item.position,
        location=item.location,
        url=item.url,
        startDate=item.start,
        endDate=item.end,
        summary=item.summary,
        highlights=[bullet.text for bullet in item.bullets],
    )


def _write_volunteer(item: Experience) -> Row:
    return _keep(
        organization=item.organization,
        position=item.position,
        url=item.url,
        startDate=item.start,
        endDate=item.end,
        summary=item.summary,
        highlights=[bullet.text for bullet in item.bullets],
    )


def _write_project(item: Experience) -> Row:
    return _keep(
        name=item.position,
        entity=item.organization,
        description=item.summary,
        url=item.url,
        startDate=item.start,
        endDate=item.end,
        highlights=[bullet.text for bullet in item.bullets],
        keywords=list(item.keywords),
    )


def _write_education(item: Education) -> Row:
    return _keep(
        institution=item.institution,
        area=item.area,
        studyType=item.degree,
        startDate=item.start,
        endDate=item.end,
        score=item.score,
        courses=list(item.courses),
    )


def _write_skills(skills: Sequence[Skill]) -> list[Row]:
    """A row for each run of one group and level; skills without a group share a row without a name."""
    rows: list[Row] = []
    for (group, level), run in groupby(skills, key=lambda skill: (skill.group, skill.level)):
        for names in _split([skill.name for skill in run]):
            rows.append(_keep(name=group, level=level, keywords=names))
    return rows


def _split(names: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), MAX_ENTRIES):
        yield list(names[start : start + MAX_ENTRIES])


def _pick(credentials: Iterable[Credential], kind: str) -> list[Credential]:
    return [item for item in credentials if item.kind == kind]


def _keep(**fields: object) -> Row:
    return {name: value for name, value in fields.items() if value}
