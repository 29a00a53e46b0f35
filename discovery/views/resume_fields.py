"""What the profile's forms ask for, as places in a JSON Resume."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TEXT, LONG, LINES = "text", "long", "lines"
LIMITS: Final = {TEXT: 200, LONG: 5000}


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """``path`` is within the entry, "location.city" for a nested one. ``kind``: one line, a paragraph, or a list."""

    path: str
    label: str
    kind: str = TEXT
    help: str = ""
    autocomplete: str = "off"
    limit: int = LIMITS[TEXT]


@dataclass(frozen=True, slots=True)
class ListSpec:
    key: str
    title: str
    noun: str
    fields: tuple[FieldSpec, ...]
    under: str = ""  # "basics" for a list that stands within the basics

    @property
    def add_label(self) -> str:
        return f"Add {'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @property
    def path(self) -> str:
        return f"{self.under}.{self.key}" if self.under else self.key


@dataclass(frozen=True, slots=True)
class PartSpec:
    """One form: fields of the basics, and whole lists."""

    name: str
    title: str
    intro: str
    fields: tuple[FieldSpec, ...] = ()
    lists: tuple[ListSpec, ...] = ()


DATE_HELP: Final = "2022, 2022-04 or 2022-04-15."
START = FieldSpec("startDate", "From", help=DATE_HELP)
END = FieldSpec("endDate", "Until", help="The same; empty while it goes on.")
URL = FieldSpec("url", "Web address", limit=2000)
BULLETS = FieldSpec(
    "highlights",
    "What you did",
    LINES,
    help="One sentence a line. Resumes and letters may only claim what stands here, so keep your numbers in.",
)

BASICS = (
    FieldSpec("name", "Full name", autocomplete="name"),
    FieldSpec("label", "What you are", help="As it stands under your name, such as Senior Backend Engineer."),
    FieldSpec("email", "E-mail", autocomplete="email"),
    FieldSpec("phone", "Telephone", autocomplete="tel"),
    FieldSpec("url", "Web site", autocomplete="url", limit=2000),
    FieldSpec("location.city", "City", autocomplete="address-level2"),
    FieldSpec("location.region", "Region", autocomplete="address-level1"),
    FieldSpec("location.countryCode", "Country", help="Two letters, such as DE.", autocomplete="country"),
    FieldSpec("summary", "Summary", LONG, help="Who you are in a few sentences.", limit=LIMITS[LONG]),
)
LINKS = ListSpec(
    "profiles", "Links", "link", (FieldSpec("network", "Where", help="Such as GitHub or LinkedIn."), URL), "basics"
)
WORK = ListSpec(
    "work",
    "Work",
    "job",
    (
        FieldSpec("position", "Position"),
        FieldSpec("name", "Employer"),
        START,
        END,
        FieldSpec("location", "Place"),
        URL,
        FieldSpec("summary", "About it", LONG, help="What the employer or the team does.", limit=LIMITS[LONG]),
        BULLETS,
    ),
)
VOLUNTEER = ListSpec(
    "volunteer",
    "Volunteering",
    "volunteer role",
    (
        FieldSpec("position", "Role"),
        FieldSpec("organization", "Organization"),
        START,
        END,
        URL,
        FieldSpec("summary", "About it", LONG, limit=LIMITS[LONG]),
        BULLETS,
    ),
)
PROJECTS = ListSpec(
    "projects",
    "Projects",
    "project",
    (
        FieldSpec("name", "Name"),
        FieldSpec("entity", "For whom"),
        START,
        END,
        URL,
        FieldSpec("description", "About it", LONG, limit=LIMITS[LONG]),
        BULLETS,
        FieldSpec("keywords", "Skills used", LINES, help="One a line."),
    ),
)
SKILLS = ListSpec(
    "skills",
    "Skills",
    "group of skills",
    (
        FieldSpec("name", "Group", help="Such as Languages. Without skills below it, the group itself is a skill."),
        FieldSpec("level", "Level"),
        FieldSpec("keywords", "Skills", LINES, help="One a line."),
    ),
)
EDUCATION = ListSpec(
    "education",
    "Education",
    "degree or course",
    (
        FieldSpec("studyType", "Degree"),
        FieldSpec("area", "Field"),
        FieldSpec("institution", "Institution"),
        FieldSpec("score", "Grade"),
        START,
        END,
        FieldSpec("courses", "Courses", LINES, help="One a line."),
    ),
)
CERTIFICATES = ListSpec(
    "certificates",
    "Certificates",
    "certificate",
    (FieldSpec("name", "Name"), FieldSpec("issuer", "From whom"), FieldSpec("date", "Date", help=DATE_HELP), URL),
)
AWARDS = ListSpec(
    "awards",
    "Awards",
    "award",
    (FieldSpec("title", "Name"), FieldSpec("awarder", "From whom"), FieldSpec("date", "Date", help=DATE_HELP)),
)
PUBLICATIONS = ListSpec(
    "publications",
    "Publications",
    "publication",
    (
        FieldSpec("name", "Title"),
        FieldSpec("publisher", "Published by"),
        FieldSpec("releaseDate", "Date", help=DATE_HELP),
        URL,
    ),
)
LANGUAGES = ListSpec(
    "languages",
    "Languages",
    "language",
    (FieldSpec("language", "Language"), FieldSpec("fluency", "How well")),
)

PARTS: Final[Mapping[str, PartSpec]] = {
    part.name: part
    for part in (
        PartSpec("basics", "Who you are", "This heads every resume and letter.", BASICS, (LINKS,)),
        PartSpec(
            "experience",
            "Experience",
            "Newest first. Every line may be cited, and nothing else is.",
            lists=(WORK, VOLUNTEER, PROJECTS),
        ),
        PartSpec("skills", "Skills", "Scores look for these words in a posting.", lists=(SKILLS,)),
        PartSpec("education", "Education", "Newest first.", lists=(EDUCATION,)),
        PartSpec(
            "credentials",
            "Certificates, awards, publications and languages",
            "What others confirm of you.",
            lists=(CERTIFICATES, AWARDS, PUBLICATIONS, LANGUAGES),
        ),
        PartSpec(
            "start",
            "A profile from nothing",
            "Your name and one job are enough to begin with; the rest can follow part by part.",
            BASICS,
            (WORK,),
        ),
    )
}
