"""Ids that follow the content: an edited file keeps the ids of the parts that did not change."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

from discovery.contracts import Bullet, Credential, Education, Experience, ProfileLink, Skill
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
