"""The shapes of JSON Resume v1, reading v0 names too (https://jsonresume.org/schema). Pydantic does the checking."""

import re
from datetime import date
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from discovery.contracts.typography import clean_text
from discovery.profile_import.limits import MAX_ENTRIES

_OPEN_ENDS = frozenset({"present", "current", "now", "ongoing", "today"})
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?)?)?", re.ASCII)
_EMAIL = re.compile(r"[^\s@<>\"',;:()\[\]\\]+@[^\s@<>\"',;:()\[\]\\.]+(?:\.[^\s@<>\"',;:()\[\]\\.]+)+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:/|$))")
_BARE_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#]\S*)?")
_UNSAFE_IN_URL = re.compile(r"[\s<>\"`{}|\\^]")


def _read_blank(value: object) -> object:
    return "" if value is None else value


def _read_number(value: object) -> object:
    """A grade is often written as a number: 3.9 is "3.9"."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _read_date(text: str) -> str:
    """ "YYYY", "YYYY-MM" or "YYYY-MM-DD" of a real day between 1900 and 2100; a time of day is dropped."""
    found = _DATE.fullmatch(text)
    if not text or text.casefold() in _OPEN_ENDS:
        return ""
    if found is None or not 1900 <= int(found[1]) <= 2100:
        raise PydanticCustomError("not_a_date", "not a date")
    try:
        date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        raise PydanticCustomError("not_a_date", "not a date") from None
    return "-".join(part for part in found.groups() if part)


def _read_url(text: str) -> str:
    """An http, https or mailto address; a bare host gets https. Anything else could run when clicked."""
    if not text:
        return ""
    if _SCHEME.match(text) is None and _BARE_HOST.fullmatch(text):
        text = f"https://{text}"
    if not is_safe_url(text):
        raise PydanticCustomError("not_a_link", "not a link")
    return text


def is_safe_url(text: str) -> bool:
    if _UNSAFE_IN_URL.search(text):
        return False
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return _EMAIL.fullmatch(parts.path) is not None
    return parts.scheme in ("http", "https") and bool(host)


def _read_email(text: str) -> str:
    text = text.removeprefix("mailto:")
    if text and _EMAIL.fullmatch(text) is None:
        raise PydanticCustomError("not_an_email", "not an e-mail address")
    return text


def _require_text(text: str) -> str:
    if not text:
        raise PydanticCustomError("missing", "missing")
    return text


Short = Annotated[str, StringConstraints(max_length=200), BeforeValidator(_read_blank), AfterValidator(clean_text)]
Text = Annotated[str, StringConstraints(max_length=1000), BeforeValidator(_read_blank), AfterValidator(clean_text)]
Prose = Annotated[str, StringConstraints(max_length=5000), BeforeValidator(_read_blank), AfterValidator(clean_text)]
Grade = Annotated[Short, BeforeValidator(_read_number)]
Date = Annotated[Short, AfterValidator(_read_date)]
Url = Annotated[
    str,
    StringConstraints(max_length=2000),
    BeforeValidator(_read_blank),
    AfterValidator(clean_text),
    AfterValidator(_read_url),
]
Email = Annotated[Short, AfterValidator(_read_email)]
Name = Annotated[Short, AfterValidator(_require_text)]
Texts = Annotated[list[Text], Field(max_length=MAX_ENTRIES)]
Shorts = Annotated[list[Short], Field(max_length=MAX_ENTRIES)]


def _either(*names: str) -> Any:
    return Field(default="", validation_alias=AliasChoices(*names))


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def drop_blanks(cls, value: object) -> object:
        """Null and "" mean "not given", so that a filled v0 key is not hidden by an empty v1 one."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            return value
        return {key: item for key, item in value.items() if item is not None and not _is_blank(item)}


class _Dated(_Part):
    start: Date = _either("startDate")
    end: Date = _either("endDate")

    @field_validator("end", mode="after")
    @classmethod
    def check_order(cls, end: str, info: ValidationInfo) -> str:
        start = info.data.get("start") or ""
        common = min(len(start), len(end))
        if end[:common] < start[:common]:
            raise PydanticCustomError("end_before_start", "ends before it starts")
        return end


class LocationPart(_Part):
    city: Short = ""
    region: Short = ""
    country_code: Short = _either("countryCode")


class LinkPart(_Part):
    network: Short = ""
    url: Url = ""


class BasicsPart(_Part):
    name: Name
    label: Short = ""
    email: Email = ""
    phone: Short = ""
    url: Url = _either("url", "website")
    summary: Prose = ""
    location: LocationPart = LocationPart()
    profiles: Annotated[list[LinkPart], Field(max_length=MAX_ENTRIES)] = []


class WorkPart(_Dated):
    name: Short = _either("name", "company")
    position: Short = ""
    location: Short = ""
    url: Url = _either("url", "website")
    summary: Prose = ""
    highlights: Texts = []


class VolunteerPart(_Dated):
    organization: Short = ""
    position: Short = ""
    url: Url = _either("url", "website")
    summary: Prose = ""
    highlights: Texts = []


class ProjectPart(_Dated):
    name: Short = ""
    entity: Short = ""
    description: Prose = _either("description", "summary")
    url: Url = _either("url", "website")
    highlights: Texts = []
    keywords: Shorts = []


class SkillPart(_Part):
    name: Short = ""
    level: Short = ""
    keywords: Shorts = []


class EducationPart(_Dated):
    institution: Short = ""
    area: Short = ""
    degree: Short = _either("studyType")
    score: Grade = _either("score", "gpa")
    courses: Texts = []


class CertificatePart(_Part):
    name: Short = ""
    issuer: Short = ""
    date: Date = ""
    url: Url = ""


class AwardPart(_Part):
    title: Short = ""
    awarder: Short = ""
    date: Date = ""


class PublicationPart(_Part):
    name: Short = ""
    publisher: Short = ""
    date: Date = _either("releaseDate")
    url: Url = _either("url", "website")


class LanguagePart(_Part):
    language: Short = _either("language", "name")
    fluency: Short = _either("fluency", "level")


class ResumeFile(_Part):
    basics: BasicsPart
    work: Annotated[list[WorkPart], Field(max_length=MAX_ENTRIES)] = []
    volunteer: Annotated[list[VolunteerPart], Field(max_length=MAX_ENTRIES)] = []
    projects: Annotated[list[ProjectPart], Field(max_length=MAX_ENTRIES)] = []
    skills: Annotated[list[SkillPart], Field(max_length=MAX_ENTRIES)] = []
    education: Annotated[list[EducationPart], Field(max_length=MAX_ENTRIES)] = []
    certificates: Annotated[list[CertificatePart], Field(max_length=MAX_ENTRIES)] = []
    awards: Annotated[list[AwardPart], Field(max_length=MAX_ENTRIES)] = []
    publications: Annotated[list[PublicationPart], Field(max_length=MAX_ENTRIES)] = []
    languages: Annotated[list[LanguagePart], Field(max_length=MAX_ENTRIES)] = []

    @model_validator(mode="before")
    @classmethod
    def expect_basics(cls, value: object) -> object:
        return {"basics": {}, **value} if isinstance(value, dict) else value


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not clean_text(value)
