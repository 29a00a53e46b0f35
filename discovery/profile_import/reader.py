"""The way from a JSON Resume file to a ProfileDocument."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from discovery.contracts import Bullet, Credential, Education, Experience, ProfileDocument, ProfileLink, Skill
from discovery.profile_import.decode import decode_profile
from discovery.profile_import.identity import assign_ids, identify_experience, make_id
from discovery.profile_import.problems import ProfileRefused
from discovery.profile_import.wording import explain_errors, list_missing_facts

if TYPE_CHECKING:
    from discovery.profile_import.schema import ResumeFile


def read_profile(data: bytes | str) -> ProfileDocument:
    """A JSON Resume (v1 or v0) as a profile. Unknown keys and blank entries are left out.

    Raises ProfileRefused with every problem found; nothing partial is returned.
    """
    raw = decode_profile(data)
    from pydantic import ValidationError

    from discovery.profile_import.schema import ResumeFile

    problems = list_missing_facts(raw)
    try:
        file = ResumeFile.model_validate(raw)
    except ValidationError as error:
        problems = [*explain_errors(error.errors(include_url=False, include_input=False)), *problems]
        raise ProfileRefused(problems) from None
    if problems:
        raise ProfileRefused(problems)
    return _build_profile(file)


def _build_profile(file: "ResumeFile") -> ProfileDocument:
    basics = file.basics
    links = [ProfileLink("", part.network, part.url) for part in basics.profiles if part.url]
    return ProfileDocument(
        name=basics.name,
        label=basics.label,
        email=basics.email,
        phone=basics.phone,
        url=basics.url,
        summary=basics.summary,
        city=basics.location.city,
        region=basics.location.region,
        country_code=basics.location.country_code.upper(),
        links=assign_ids(links, lambda link: make_id("lnk", link.network, link.url)),
        experience=identify_experience(_list_experience(file)),
        skills=assign_ids(_list_skills(file), lambda skill: make_id("ski", skill.group, skill.name)),
        education=assign_ids(
            _list_education(file),
            lambda item: make_id("edu", item.institution, item.degree, item.area, item.start),
        ),
        credentials=assign_ids(
            _list_credentials(file), lambda item: make_id("cre", item.kind, item.name, item.detail, item.date)
        ),
    )


def _list_experience(file: "ResumeFile") -> list[Experience]:
    """Work, then volunteering, then projects, each in the file's order. A project's name is its ``position``."""
    work = [
        Experience(
            "",
            "work",
            part.name,
            part.position,
            location=part.location,
            start=part.start,
            end=part.end,
            summary=part.summary,
            url=part.url,
            bullets=_list_bullets(part.highlights),
        )
        for part in file.work
    ]
    volunteer = [
        Experience(
            "",
            "volunteer",
            part.organization,
            part.position,
            start=part.start,
            end=part.end,
            summary=part.summary,
            url=part.url,
            bullets=_list_bullets(part.highlights),
        )
        for part in file.volunteer
    ]
    projects = [
        Experience(
            "",
            "project",
            part.entity,
            part.name,
            start=part.start,
            end=part.end,
            summary=part.description,
            url=part.url,
            bullets=_list_bullets(part.highlights),
            keywords=_drop_blanks(part.keywords),
        )
        for part in file.projects
    ]
    return [item for item in (*work, *volunteer, *projects) if item.organization or item.position]


def _list_skills(file: "ResumeFile") -> list[Skill]:
    """Keywords are the skills and their row's name is the group; a row without keywords is itself a skill."""
    skills: list[Skill] = []
    for part in file.skills:
        keywords = _drop_blanks(part.keywords)
        if keywords:
            skills += [Skill("", keyword, group=part.name, level=part.level) for keyword in keywords]
        elif part.name:
            skills.append(Skill("", part.name, level=part.level))
    return skills


def _list_education(file: "ResumeFile") -> list[Education]:
    return [
        Education(
            "",
            part.institution,
            area=part.area,
            degree=part.degree,
            start=part.start,
            end=part.end,
            score=part.score,
            courses=_drop_blanks(part.courses),
        )
        for part in file.education
        if part.institution or part.degree or part.area
    ]


def _list_credentials(file: "ResumeFile") -> list[Credential]:
    found = [
        *(Credential("", "certificate", p.name, detail=p.issuer, date=p.date, url=p.url) for p in file.certificates),
        *(Credential("", "award", p.title, detail=p.awarder, date=p.date) for p in file.awards),
        *(Credential("", "publication", p.name, detail=p.publisher, date=p.date, url=p.url) for p in file.publications),
        *(Credential("", "language", p.language, detail=p.fluency) for p in file.languages),
    ]
    return [item for item in found if item.name]


def _list_bullets(texts: Sequence[str]) -> tuple[Bullet, ...]:
    """Without repetitions, so that two entries that differ in nothing else are seen to be one."""
    return tuple(Bullet("", text) for text in dict.fromkeys(_drop_blanks(texts)))


def _drop_blanks(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text)
