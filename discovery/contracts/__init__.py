"""Plain data that discovery shares with the apps above it. Standard library and the engine's contracts only."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from operations.contracts import ExecutionRef


class WorkMode(StrEnum):
    ONSITE = "onsite"
    HYBRID = "hybrid"
    REMOTE = "remote"
    UNKNOWN = "unknown"


class PayPeriod(StrEnum):
    YEAR = "year"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    HOUR = "hour"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Salary:
    """A stated pay range. Amounts are as written, in ``currency`` per ``period``; nothing is converted.

    ``currency`` is an ISO 4217 code, or "" where the posting does not say. ``note`` holds what
    qualifies the figure ("0.6 FTE", "OTE"), else "".
    """

    minimum: Decimal | None
    maximum: Decimal | None
    currency: str
    period: PayPeriod
    note: str = ""


@dataclass(frozen=True, slots=True)
class Posting:
    """One posting as its source gave it, cleaned. Its identity is (kind, board, external_id), never its URL."""

    kind: str  # "greenhouse", "lever", "ashby"
    board: str  # the board's token
    external_id: str
    title: str
    company: str
    url: str
    apply_url: str = ""
    requisition_id: str = ""
    location: str = ""  # the place as shown, without the work mode
    places: tuple[str, ...] = ()  # every place named, the first one leading
    country: str = ""  # ISO 3166 alpha-2 where the source says so
    mode: WorkMode = WorkMode.UNKNOWN
    remote_eligibility: str = ""  # "" = unknown, never "anywhere"
    employment_type: str = ""
    department: str = ""
    salary: Salary | None = None
    posted_at: datetime | None = None
    updated_at: datetime | None = None
    closes_at: datetime | None = None
    language: str = ""
    description: str = ""  # readable plain text; "" where the list gave none


@dataclass(frozen=True, slots=True)
class SkippedPosting:
    """One row of a board that could not become a posting. ``reason`` is a bounded code."""

    reason: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class ParsedBoard:
    postings: tuple[Posting, ...]
    skipped: tuple[SkippedPosting, ...] = ()


# --- the candidate -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProfileLink:
    id: str
    network: str
    url: str


@dataclass(frozen=True, slots=True)
class Bullet:
    """One sentence of the candidate's own. ``id`` is stable while its text and its experience are."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Experience:
    """Paid work, volunteering or a project (``kind``). Dates are "YYYY", "YYYY-MM" or "YYYY-MM-DD"; "" = open."""

    id: str
    kind: str  # "work" | "volunteer" | "project"
    organization: str
    position: str
    location: str = ""
    start: str = ""
    end: str = ""
    summary: str = ""
    url: str = ""
    bullets: tuple[Bullet, ...] = ()
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill; ``group`` is the heading it stood under."""

    id: str
    name: str
    group: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True)
class Education:
    id: str
    institution: str
    area: str = ""
    degree: str = ""
    start: str = ""
    end: str = ""
    score: str = ""
    courses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Credential:
    """A certificate, award, publication or language (``kind``); ``detail`` is issuer, publisher or fluency."""

    id: str
    kind: str  # "certificate" | "award" | "publication" | "language"
    name: str
    detail: str = ""
    date: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One citable fact of the profile. ``parent_id`` is the experience a bullet belongs to."""

    id: str
    kind: str  # "bullet" | "experience" | "skill" | "education" | "credential" | "summary"
    text: str
    parent_id: str = ""


@dataclass(frozen=True, slots=True)
class ProfileDocument:
    """A candidate as imported; every citable part has a stable id."""

    name: str
    label: str = ""
    email: str = ""
    phone: str = ""
    url: str = ""
    summary: str = ""
    city: str = ""
    region: str = ""
    country_code: str = ""
    links: tuple[ProfileLink, ...] = ()
    experience: tuple[Experience, ...] = ()
    skills: tuple[Skill, ...] = ()
    education: tuple[Education, ...] = ()
    credentials: tuple[Credential, ...] = ()

    def iter_evidence(self) -> Iterator[Evidence]:
        """Every fact that a score or a document may cite, in the profile's own order."""
        if self.summary:
            yield Evidence("summary", "summary", self.summary)
        for item in self.experience:
            head = ", ".join(part for part in (item.position, item.organization) if part)
            text = ". ".join(part for part in (head, item.summary, ", ".join(item.keywords)) if part)
            yield Evidence(item.id, "experience", text)
            for bullet in item.bullets:
                yield Evidence(bullet.id, "bullet", bullet.text, item.id)
        for skill in self.skills:
            yield Evidence(skill.id, "skill", skill.name)
        for school in self.education:
            text = ", ".join(part for part in (school.degree, school.area, school.institution) if part)
            yield Evidence(school.id, "education", text)
        for credential in self.credentials:
            text = ", ".join(part for part in (credential.name, credential.detail) if part)
            yield Evidence(credential.id, "credential", text)


# --- enrichment --------------------------------------------------------------------------------


class ContentTier(StrEnum):
    """Where a description came from, best first."""

    SOURCE_PAYLOAD = "source_payload"
    JSON_LD = "json_ld"
    SELECTORS = "selectors"
    MODEL = "model"
    READABLE_TEXT = "readable_text"


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class ActiveState(StrEnum):
    ACTIVE = "active"
    CLOSED = "closed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PageContent:
    """What one posting page says. ``evidence`` names in a bounded code why it is closed or unknown."""

    tier: ContentTier
    title: str = ""
    company: str = ""
    description: str = ""
    apply_url: str = ""
    location: str = ""
    places: tuple[str, ...] = ()
    mode: WorkMode = WorkMode.UNKNOWN
    remote_eligibility: str = ""
    employment_type: str = ""
    salary: Salary | None = None
    posted_at: datetime | None = None
    valid_through: datetime | None = None
    active: ActiveState = ActiveState.UNKNOWN
    evidence: str = ""
    warnings: tuple[str, ...] = field(default=())


# --- the discovery run -------------------------------------------------------------------------


@dataclass(frozen=True)
class DiscoverInput:
    """``families`` limits the run; empty = every family with an enabled source."""

    profile_version: int
    workspace_identity: str
    tenant_id: str = "local"
    families: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanInput:
    execution_ref: ExecutionRef
    families: tuple[str, ...] = ()


@dataclass(frozen=True)
class DiscoveryPlan:
    """The families to crawl, in order, and how many of them at once."""

    families: tuple[str, ...]
    parallel: int


@dataclass(frozen=True)
class FamilyInput:
    execution_ref: ExecutionRef
    family: str
    workspace_identity: str


@dataclass(frozen=True)
class FamilyReport:
    family: str
    counts: dict[str, int]


@dataclass(frozen=True)
class FanoutInput:
    execution_ref: ExecutionRef
    profile_version: int
    workspace_identity: str


@dataclass(frozen=True)
class FanoutReport:
    counts: dict[str, int]


@dataclass(frozen=True)
class DiscoveryEnd:
    execution_ref: ExecutionRef
    error_code: str
    counts: dict[str, int]


@dataclass(frozen=True)
class DiscoverResult:
    counts: dict[str, int]
