"""Where the lines of a document come from, in words: each cites facts of one version of the profile."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from discovery.contracts import Evidence, ProfileDocument
from discovery.queries import get_profile
from materials.contracts import Line
from operations.errors import MissingInput

_KINDS = {
    "summary": "your summary",
    "skill": "your skills",
    "education": "your education",
    "credential": "your profile",
}


@dataclass(frozen=True, slots=True)
class Source:
    """``place`` is where the fact stands in the profile, ``words`` the fact itself."""

    place: str
    words: str


UNKNOWN = Source("a part of the profile that cannot be found", "")
Sources = dict[str, Source]


def read_sources(profile_version: int) -> Sources:
    """Evidence id to source; empty where that version is gone."""
    try:
        profile = get_profile(profile_version)
    except MissingInput:
        return {}
    places = {item.id: ", ".join(p for p in (item.position, item.organization) if p) for item in profile.experience}
    return {evidence.id: _describe(evidence, profile, places) for evidence in profile.iter_evidence()}


def _describe(evidence: Evidence, profile: ProfileDocument, places: dict[str, str]) -> Source:
    home = evidence.parent_id or evidence.id
    if home in places:
        return Source(places[home], evidence.text)
    if evidence.kind == "credential":
        kind = next(item.kind for item in profile.credentials if item.id == evidence.id)
        return Source(f"your {kind}s", evidence.text)
    return Source(_KINDS.get(evidence.kind, "your profile"), evidence.text)


def name_places(evidence_ids: Iterable[str], sources: Sources) -> str:
    """Each place once; what cites something unknown says so."""
    return "; ".join(dict.fromkeys(sources.get(evidence_id, UNKNOWN).place for evidence_id in evidence_ids))


@dataclass(slots=True)
class Notes:
    """Numbers the facts that a letter states, in the order in which it first states them."""

    sources: Sources
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, line: Line) -> list[int]:
        return [self.numbers.setdefault(cited, len(self.numbers) + 1) for cited in line.evidence_ids]

    def list_sources(self) -> list[tuple[int, Source]]:
        return [(number, self.sources.get(cited, UNKNOWN)) for cited, number in self.numbers.items()]
