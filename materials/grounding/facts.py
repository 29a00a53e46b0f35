"""The profile as the gate looks it up."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from discovery.contracts import Credential, Education, Evidence, Experience, ProfileDocument, Skill
from discovery.contracts.typography import fold_text
from materials.contracts import ContactLine
from materials.grounding.placeholders import find_leftovers
from materials.grounding.problems import GroundingProblem

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_WORD = re.compile(r"[^\W_]+(?:[.+#'/-][^\W_]+|[+#]+)*")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = re.compile(r"(?:([A-Za-z]{3,9})\.? )?(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_OPEN = frozenset({"present", "now", "today", "current"})


@dataclass(frozen=True, slots=True)
class ProfileFacts:
    """Every citable part by its id."""

    profile: ProfileDocument
    evidence: dict[str, Evidence]
    experience: dict[str, Experience]
    skills: dict[str, Skill]
    education: dict[str, Education]
    credentials: dict[str, Credential]


def index_facts(profile: ProfileDocument) -> ProfileFacts:
    return ProfileFacts(
        profile=profile,
        evidence={item.id: item for item in profile.iter_evidence()},
        experience={item.id: item for item in profile.experience},
        skills={item.id: item for item in profile.skills},
        education={item.id: item for item in profile.education},
        credentials={item.id: item for item in profile.credentials},
    )


def is_same(text: str, other: str) -> bool:
    """Equal but for spacing, quotes, dashes and a final full stop."""
    return fold_text(text).rstrip(".") == fold_text(other).rstrip(".")


def explain_difference(text: str, sources: Iterable[str]) -> str:
    """What the text adds: numbers first, then words; the reason a reader needs to find the invention."""
    source = fold_text(" ".join(sources))
    known_numbers = set(_NUMBER.findall(source))
    numbers = [number for number in _NUMBER.findall(fold_text(text)) if number not in known_numbers]
    if numbers:
        return f"The evidence it cites does not hold the number {_quote(numbers)}."
    known_words = {word.casefold() for word in _WORD.findall(source)}
    words = [word for word in _WORD.findall(fold_text(text)) if word.casefold() not in known_words]
    if words:
        return f"The evidence it cites does not hold the words {_quote(words)}."
    return "It does not say what the evidence it cites says: words are left out or in another order."


def check_dates(text: str, *, start: str, end: str, is_open: bool) -> str:
    """The reason to refuse, or "" where all dates are the evidence's, in its order. ``is_open`` allows "Present"."""
    folded = fold_text(text)
    rest = _DATE.sub(" ", folded)
    words = [word for word in _WORD.findall(rest) if word.casefold() not in _OPEN]
    if words:
        return f"The dates hold other words: {_quote(words)}."
    if any(word.casefold() in _OPEN for word in _WORD.findall(rest)) and (end or not is_open):
        return "It is shown as going on, but the profile gives an end date."
    allowed = [date for date in (start, end) if date]
    position = 0
    for found in _DATE.finditer(folded):
        month = f"{_MONTHS.index(found[1][:3].casefold()) + 1:02}" if _is_month(found[1]) else (found[3] or "")
        if found[1] and not _is_month(found[1]):
            return f"“{found.group()}” is not a date."
        shown = "-".join(part for part in (found[2], month, found[4] or "") if part)
        match = next((i for i in range(position, len(allowed)) if allowed[i].startswith(shown)), None)
        if match is None:
            return f"The profile does not hold the date “{found.group()}” here."
        position = match if len(allowed) > 1 and allowed[0][: len(shown)] == allowed[-1][: len(shown)] else match + 1
    return ""


def check_head(name: str, *, contacts: Iterable[ContactLine], profile: ProfileDocument) -> Iterator[GroundingProblem]:
    """The name and the contact lines are the profile's own."""
    if not is_same(name, profile.name):
        yield GroundingProblem("name", "This is not the candidate's name.", name)
    for leftover in find_leftovers(name):
        yield GroundingProblem("name", f"A placeholder is left: “{leftover}”.", name)
    texts = {fold_text(text) for text in _list_contact_texts(profile)}
    hrefs = set(_list_contact_hrefs(profile))
    for index, contact in enumerate(contacts):
        if fold_text(contact.text) not in texts:
            yield GroundingProblem(f"contacts[{index}]", "The profile has no such contact.", contact.text)
        if contact.href and contact.href not in hrefs:
            yield GroundingProblem(f"contacts[{index}]", "The profile has no such address.", contact.href)


def shorten_url(url: str) -> str:
    """The address as shown on paper."""
    return re.sub(r"^(?:https?://(?:www\.)?|mailto:)", "", url).rstrip("/")


def make_phone_href(phone: str) -> str:
    digits = "".join(character for character in phone if character in "+0123456789")
    return f"tel:{digits}" if digits else ""


def _list_contact_texts(profile: ProfileDocument) -> Iterator[str]:
    yield from (profile.email, profile.phone, profile.city, profile.region, profile.country_code)
    for parts in (
        (profile.city, profile.region),
        (profile.city, profile.country_code),
        (profile.city, profile.region, profile.country_code),
        (profile.region, profile.country_code),
    ):
        yield ", ".join(part for part in parts if part)
    for url in _list_urls(profile):
        yield from (url, shorten_url(url))
    for link in profile.links:
        yield from (link.network, f"{link.network}: {shorten_url(link.url)}")


def _list_contact_hrefs(profile: ProfileDocument) -> Iterator[str]:
    yield f"mailto:{profile.email}"
    yield make_phone_href(profile.phone)
    yield from _list_urls(profile)


def _list_urls(profile: ProfileDocument) -> list[str]:
    return [url for url in (profile.url, *(link.url for link in profile.links)) if url]


def _is_month(word: str | None) -> bool:
    return bool(word) and word is not None and word[:3].casefold() in _MONTHS


def _quote(words: list[str]) -> str:
    return ", ".join(f"“{word}”" for word in dict.fromkeys(words[:5]))
