"""What kind of work a title names, and how near two kinds of work are."""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from rapidfuzz import fuzz

from scoring.builtin.phrases import Phrase, PhraseIndex
from scoring.builtin.vocabulary import find_mentions, get_skill_group
from scoring.contracts import Fit

_ENGINEER = re.compile(
    r"\b(?:engineer|developer|programmer|entwickler\w*|développeur|desarrollador|vývojář|software|ingenieur)",
    re.IGNORECASE,
)
_ROLE_OF_GROUP = {
    "language": "Software Engineer",
    "web_backend": "Backend Engineer",
    "frontend": "Frontend Engineer",
    "mobile": "Mobile Engineer",
    "database": "Database Administrator",
    "cloud": "DevOps Engineer",
    "devops": "DevOps Engineer",
    "data": "Data Engineer",
    "machine_learning": "Machine Learning Engineer",
    "security": "Security Engineer",
    "testing": "QA Engineer",
    "embedded": "Embedded Engineer",
}
_BROAD = frozenset(
    {"Software Engineer", "Account Executive", "Marketing Manager"}
)  # their aliases hold bare words such as "sales"
_LEVELS = (
    (12, re.compile(r"\b(?:vp|vice president|chief|c[teof]o|director|head of|distinguished)\b", re.IGNORECASE)),
    (8, re.compile(r"\b(?:principal|staff|leiter)\b(?! nurse)", re.IGNORECASE)),
    (4, re.compile(r"\b(?:senior|sr|lead|tech lead|iii|iv)\b", re.IGNORECASE)),
)
_NOISE = re.compile(
    r"\([^)]{0,30}\)|\b(?:senior|sr|junior|jr|lead|staff|principal|mid|ii|iii|iv|intern|"
    r"remote|hybrid|onsite|full[- ]time|part[- ]time|contract|m/w/d|f/m/d|w/m/d|h/f)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RoleEntry:
    name: str
    near: frozenset[str]
    related: frozenset[str]
    implies: tuple[str, ...]


@cache
def _load_roles() -> tuple[dict[str, RoleEntry], PhraseIndex]:
    rows = json.loads(Path(__file__).with_name("roles.json").read_text(encoding="utf-8"))
    entries = {
        row["name"]: RoleEntry(
            row["name"],
            frozenset(row.get("near", ())),
            frozenset(row.get("related", ())),
            tuple(row.get("implies", ())),
        )
        for row in rows
    }
    phrases = [
        Phrase(row["name"], spelling)
        for row in rows
        for alias in (row["name"], *row.get("aliases", ()))
        for spelling in ((alias, f"{alias}s") if alias.endswith(("r", "t", "e", "n")) and len(alias) > 4 else (alias,))
    ]
    return entries, PhraseIndex(phrases)


@lru_cache(maxsize=2048)
def find_roles(title: str) -> tuple[str, ...]:
    """Known roles a title names, the plainest first; () where none is known.

    "Java Developer" names none of its own: there the skill decides.
    """
    _, index = _load_roles()
    hits = index.find_hits(title)
    # "Sales Engineer, Backend" is the longer phrase first; bare words only count where nothing longer does.
    hits.sort(
        key=lambda hit: (hit.phrase.name in _BROAD and hit.end - hit.start < 12, hit.start - 2 * (hit.end - hit.start))
    )
    names = list(dict.fromkeys(hit.phrase.name for hit in hits))
    if (not names or names == ["Software Engineer"]) and _ENGINEER.search(title):
        for mention in find_mentions(title):
            role = _ROLE_OF_GROUP.get(get_skill_group(mention.name))
            if role is not None and mention.name not in ("Software Development", "Scalability", "Distributed Systems"):
                names = [role, *(name for name in names if name != role)]
                break
    return tuple(names[:2])


def find_title_skills(title: str) -> tuple[str, ...]:
    """Hard skills a title names beside the role: Go in "Backend Engineer (Go)", nothing in "Data Engineer"."""
    _, index = _load_roles()
    spans = [(hit.start, hit.end) for hit in index.find_hits(title)]
    beside = [
        mention.name
        for mention in find_mentions(title)
        if get_skill_group(mention.name) != "soft"
        and not any(mention.start < end and start < mention.end for start, end in spans)
    ]
    return tuple(dict.fromkeys(beside))


def list_role_skills(role: str) -> tuple[str, ...]:
    entries, _ = _load_roles()
    return entries[role].implies


def compare_roles(wanted: tuple[str, ...], had: tuple[str, ...]) -> Fit:
    """How near the nearest pair is. The first role wanted leads; a second one only ever gives a transferable match."""
    if not wanted or not had:
        return Fit.MISSING
    entries, _ = _load_roles()
    lead = wanted[0]
    if lead in had:
        return Fit.DIRECT
    if any(role in entries[lead].near or lead in entries[role].near for role in had):
        return Fit.STRONG
    if any(role in entries[lead].related or lead in entries[role].related for role in had):
        return Fit.TRANSFERABLE
    return Fit.TRANSFERABLE if any(role in wanted for role in had) else Fit.MISSING


def compare_titles(wanted: str, had: str) -> float:
    """0..100, word by word and without words of rank; for titles that the table of roles does not know."""
    one, two = _strip_title(wanted), _strip_title(had)
    return fuzz.token_sort_ratio(one, two) if one and two else 0.0


def _strip_title(title: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", _NOISE.sub(" ", title).lower()))


def get_years_expected(title: str) -> int:
    """Years of work that a word of rank stands for; 0 where the title has none."""
    return next((years for years, pattern in _LEVELS if pattern.search(title)), 0)
