"""What one version of a profile changes against another, part by part. Parts are told apart by their stable ids."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from discovery.contracts import Credential, Education, Experience, ProfileDocument, ProfileLink, Skill
from discovery.profile_import.identity import keep_ids

Part = ProfileLink | Experience | Skill | Education | Credential

ADDED, REMOVED, CHANGED = "added", "removed", "changed"

_BASICS = ("name", "label", "email", "phone", "url", "summary", "city", "region", "country_code")
_COMPARED: Mapping[str, tuple[str, ...]] = {
    "experience": ("location", "end", "summary", "url", "keywords"),
    "skill": ("level",),
    "education": ("end", "score", "courses"),
    "credential": ("url",),
    "link": (),
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class PartChange:
    """One part that is added, removed or changed. ``added`` and ``removed`` are bullets, of an experience only."""

    part: str  # "basics" | "link" | "experience" | "skill" | "education" | "credential"
    change: str
    id: str
    title: str
    detail: str = ""
    fields: tuple[FieldChange, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileDifference:
    changes: tuple[PartChange, ...]
    is_same: bool

    @property
    def is_only_order(self) -> bool:
        """The same parts and bullets, in another order."""
        return not self.is_same and not self.changes


def compare_profiles(before: ProfileDocument | None, after: ProfileDocument) -> ProfileDifference:
    """What ``after`` changes; without a version before it, everything is added."""
    old = before or ProfileDocument(name="")
    after = keep_ids(after, old)  # as storing it would
    changes = (
        *_compare_basics(old, after),
        *_compare_parts("link", old.links, after.links),
        *_compare_parts("experience", old.experience, after.experience),
        *_compare_parts("skill", old.skills, after.skills),
        *_compare_parts("education", old.education, after.education),
        *_compare_parts("credential", old.credentials, after.credentials),
    )
    return ProfileDifference(changes, is_same=before == after)


def _compare_basics(old: ProfileDocument, new: ProfileDocument) -> Iterator[PartChange]:
    fields = _compare_fields(old, new, _BASICS)
    if fields:
        change = CHANGED if old.name else ADDED
        yield PartChange("basics", change, "basics", new.name or old.name, new.label, fields)


def _compare_parts(part: str, old: Sequence[Part], new: Sequence[Part]) -> Iterator[PartChange]:
    before = {item.id: item for item in old}
    after = {item.id: item for item in new}
    for item in new:
        found = before.get(item.id)
        if found is None:
            yield _describe(part, ADDED, item, added=list_bullets(item))
        elif found != item:
            changed = _compare_part(part, found, item)
            if changed is not None:
                yield changed
    for item in old:
        if item.id not in after:
            yield _describe(part, REMOVED, item, removed=list_bullets(item))


def _compare_part(part: str, old: Part, new: Part) -> PartChange | None:
    """``None`` where only the order of the bullets differs, or the spelling of what the id is made of."""
    fields = _compare_fields(old, new, _COMPARED[part])
    before, after = map_bullets(old), map_bullets(new)
    added = tuple(text for key, text in after.items() if key not in before)
    removed = tuple(text for key, text in before.items() if key not in after)
    spelling = name_part(old) != name_part(new)
    if not (fields or added or removed or spelling):
        return None
    if spelling:
        fields = (FieldChange("title", " ".join(name_part(old)), " ".join(name_part(new))), *fields)
    return _describe(part, CHANGED, new, fields=fields, added=added, removed=removed)


def _compare_fields(old: object, new: object, names: Sequence[str]) -> tuple[FieldChange, ...]:
    pairs = ((name, _as_text(getattr(old, name)), _as_text(getattr(new, name))) for name in names)
    return tuple(FieldChange(name, before, after) for name, before, after in pairs if before != after)


def _describe(
    part: str,
    change: str,
    item: Part,
    *,
    fields: tuple[FieldChange, ...] = (),
    added: tuple[str, ...] = (),
    removed: tuple[str, ...] = (),
) -> PartChange:
    title, detail = name_part(item)
    return PartChange(part, change, item.id, title, detail, fields, added, removed)


def name_part(item: Part) -> tuple[str, str]:
    """What a part is called, and what stands beside it."""
    match item:
        case Experience():
            return item.position or item.organization, item.organization if item.position else ""
        case Skill():
            return item.name, item.group
        case Education():
            return item.degree or item.area or item.institution, item.institution
        case Credential():
            return item.name, item.detail
        case ProfileLink():
            return item.network or item.url, item.url


def map_bullets(item: Part) -> dict[str, str]:
    return {bullet.id: bullet.text for bullet in item.bullets} if isinstance(item, Experience) else {}


def list_bullets(item: Part) -> tuple[str, ...]:
    return tuple(map_bullets(item).values())


def _as_text(value: object) -> str:
    return ", ".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
