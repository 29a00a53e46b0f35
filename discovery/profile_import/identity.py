"""Ids that follow the content: an edited file keeps the ids of the parts that are the same or were only corrected."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

from discovery.contracts import Bullet, Credential, Education, Experience, ProfileDocument, ProfileLink, Skill
from discovery.contracts.typography import fold_text

Part = TypeVar("Part", ProfileLink, Bullet, Experience, Skill, Education, Credential)


def make_id(prefix: str, *facts: str) -> str:
    folded = "|".join(fold_text(fact).casefold().replace("|", " ") for fact in facts)
    return f"{prefix}-{sha256(folded.encode()).hexdigest()[:10]}"


def assign_ids(parts: Sequence[Part], make: Callable[[Part], str]) -> tuple[Part, ...]:
    """Parts with ids, exact repetitions dropped. Parts that share an id get "-2", "-3" by content, never by place."""
    unique = list(dict.fromkeys(parts))
    sharing: defaultdict[str, list[Part]] = defaultdict(list)
    for part in unique:
        sharing[make(part)].append(part)
    ids: dict[Part, str] = {}
    for base, members in sharing.items():
        for number, part in enumerate(sorted(members, key=repr), start=1):
            ids[part] = base if number == 1 else f"{base}-{number}"
    return tuple(replace(part, id=ids[part]) for part in unique)


def identify_experience(items: Sequence[Experience]) -> tuple[Experience, ...]:
    """Ids for experiences and, below them, their bullets."""
    named = assign_ids(items, lambda item: make_id("exp", item.kind, item.organization, item.position, item.start))
    return tuple(replace(item, bullets=_identify_bullets(item)) for item in named)


def _identify_bullets(item: Experience) -> tuple[Bullet, ...]:
    return assign_ids(item.bullets, lambda bullet: make_id("bul", item.id, bullet.text))


def keep_ids(document: ProfileDocument, former: ProfileDocument) -> ProfileDocument:
    """The document with each part under the id that it had in ``former``, corrected title and dates included.

    No id goes over to another part: what is new and would have a former one gets a number behind it.
    """
    return replace(
        document,
        links=_keep(document.links, former.links, _LINK_SIGNS),
        experience=_keep_experience(document.experience, former.experience),
        skills=_keep(document.skills, former.skills, _SKILL_SIGNS),
        education=_keep(document.education, former.education, _EDUCATION_SIGNS),
        credentials=_keep(document.credentials, former.credentials, _CREDENTIAL_SIGNS),
    )


def _keep_experience(items: Sequence[Experience], former: Sequence[Experience]) -> tuple[Experience, ...]:
    before = {item.id: item.bullets for item in former}
    kept = _keep(items, former, _EXPERIENCE_SIGNS)
    return tuple(
        replace(item, bullets=_keep(_identify_bullets(item), before.get(item.id, ()), _BULLET_SIGNS)) for item in kept
    )


def _keep(parts: Sequence[Part], former: Sequence[Part], signs: "Sequence[Sign[Part]]") -> tuple[Part, ...]:
    """By the first of the signs, from the surest on, that only one part on either side has."""
    ids: dict[int, str] = {}
    for sign in signs:
        given = set(ids.values())
        new, old = defaultdict(list), defaultdict(list)
        for place, part in enumerate(parts):
            if place not in ids:
                new[sign(part)].append(place)
        for part in former:
            if part.id not in given:
                old[sign(part)].append(part.id)
        for value, places in new.items():
            if value is not None and len(places) == 1 and len(old[value]) == 1:
                ids[places[0]] = old[value][0]
    taken = {part.id for part in former} | set(ids.values())
    for place, part in enumerate(parts):
        if place not in ids:
            ids[place] = _find_free(part.id, taken)
            taken.add(ids[place])
    return tuple(replace(part, id=ids[place]) for place, part in enumerate(parts))


def _find_free(wanted: str, taken: set[str]) -> str:
    number, free = 1, wanted
    while free in taken:
        number += 1
        free = f"{wanted}-{number}"
    return free


def _read_content(part: Part) -> Hashable:
    if isinstance(part, Experience):
        return replace(part, id="", bullets=tuple(Bullet("", bullet.text) for bullet in part.bullets))
    return replace(part, id="")


def _list_texts(item: Experience) -> frozenset[str] | None:
    return frozenset(fold_text(bullet.text) for bullet in item.bullets) or None


def _read_id(part: Part) -> Hashable:
    return part.id


Sign = Callable[[Part], Hashable]  # what tells that two parts are one; ``None`` tells nothing
_EXPERIENCE_SIGNS: tuple[Sign[Experience], ...] = (
    _read_content,
    lambda item: (item.kind, item.organization, item.position, item.start, _list_texts(item)),
    lambda item: (item.kind, item.organization, item.position, item.start, item.end, item.location),
    _read_id,
    lambda item: (item.kind, item.organization, texts) if (texts := _list_texts(item)) else None,
    lambda item: (item.kind, item.organization, fold_text(item.bullets[0].text)) if item.bullets else None,
    lambda item: (item.kind, item.organization, fold_text(item.bullets[-1].text)) if item.bullets else None,
    lambda item: (item.kind, item.organization, item.position),
    lambda item: (item.kind, item.organization, item.start) if item.organization and not item.bullets else None,
)
_BULLET_SIGNS: tuple[Sign[Bullet], ...] = (_read_content, _read_id)
_LINK_SIGNS: tuple[Sign[ProfileLink], ...] = (_read_content, _read_id, lambda link: link.network.casefold() or None)
_SKILL_SIGNS: tuple[Sign[Skill], ...] = (_read_content, _read_id, lambda skill: skill.name.casefold())
_EDUCATION_SIGNS: tuple[Sign[Education], ...] = (
    _read_content,
    _read_id,
    lambda item: (item.institution, item.degree, item.area),
    lambda item: (item.institution, item.area, item.start) if item.area else None,
)
_CREDENTIAL_SIGNS: tuple[Sign[Credential], ...] = (
    _read_content,
    _read_id,
    lambda item: (item.kind, item.name.casefold()),
)
