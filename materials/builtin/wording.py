"""What a letter may repeat of the posting, in the posting's own words."""

import re
from collections.abc import Collection, Sequence

from discovery.contracts.typography import clean_text
from materials.grounding.frames import is_known, is_name, join_names
from materials.grounding.placeholders import find_suspects
from scoring.contracts import Requirement

_MAX_PHRASE = 70
_MAX_TERMS = 3
_GENDERS = re.compile(
    r"\s*(?:[(\[](?:[mfwdxhn](?:\s*[/|,*]\s*[mfwdxhn])+|all genders?|gn)[)\]]|(?<=\s)[mfw]/[mfw]/[dx]\b)\*?",
    re.IGNORECASE,
)
# Pictures and what belongs to them: hardly a font prints them, and no letter wants them.
_PICTURES = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u20e3\ufe0e\ufe0f\U000e0020-\U000e007f]+")
_NOUN_START = re.compile(
    r"^(?:(?:strong|solid|deep|proven|hands-on|extensive|good|excellent|practical|professional|working|production|"
    r"in-depth|demonstrated|prior|relevant|significant)\s+){0,2}"
    r"(?:experience|knowledge|proficiency|familiarity|expertise|understanding|fluency|background|command|skills|"
    r"track record)\b",
    re.IGNORECASE,
)
# What follows is detail; the phrase before it stands alone.
_DETAIL = re.compile(r"\s*[:;(]|\s[–—-]\s|,? (?:ideally|preferably|such as|including|especially|like)\b", re.IGNORECASE)
_UNCLEAN = re.compile(
    r"[\d()\[\]{}<>:;/|!?\"“”*•]|\b(?:i|me|my|we|our|us|you|your|etc|e\.g|preferred|plus|"
    # "PostgreSQL operators" is another thing than the PostgreSQL that a bullet shows.
    r"operators?|extensions?|plugins?|internals|kernels?)\b",
    re.IGNORECASE,
)


def phrase_requirement(requirement: Requirement, *, description: str, shown: Collection[str] = ()) -> str:
    """A short clean phrase naming what the posting asks for, else its skills, else "".

    Only words that stand in the posting are given; of its skills those in ``shown``, if there are any of them.
    """
    phrase = _read_phrase(requirement.text, description)
    if phrase or requirement.kind != "skill":
        return phrase
    terms = [term for term in requirement.terms if term in shown] or requirement.terms
    return _join_terms(terms, description)


def clean_title(title: str) -> str:
    """The role as a letter names it: without "(m/f/d)" or emoji; "" where it is a placeholder or more than a name."""
    text = _clean_name(_GENDERS.sub("", title)).rstrip(" :,;–—-")
    return text if is_name(text) and not find_suspects(text) else ""


def clean_company(company: str) -> str:
    text = _clean_name(company)
    return text if is_known(text) and is_name(text) and not find_suspects(text) else ""


def _clean_name(text: str) -> str:
    return clean_text(_PICTURES.sub(" ", text))


def _read_phrase(text: str, description: str) -> str:
    phrase = _DETAIL.split(clean_text(text))[0].rstrip(".,")
    if len(phrase) > _MAX_PHRASE or _NOUN_START.match(phrase) is None or _UNCLEAN.search(phrase):
        return ""
    if re.search(r"[.!?…]", phrase) or phrase.casefold() not in clean_text(description).casefold():
        return ""
    return phrase[0].lower() + phrase[1:]


def _join_terms(terms: Sequence[str], description: str) -> str:
    """Terms as the posting spells them."""
    found: list[str] = []
    for term in terms:
        whole = rf"(?<![\w+#]){re.escape(term)}(?![\w+#])"
        match = re.search(whole, description) or re.search(whole, description, re.IGNORECASE)
        if match is not None and not _UNCLEAN.search(match.group()):
            found.append(_lower_start(match.group(), description))
    return join_names(found[:_MAX_TERMS])


def _lower_start(term: str, description: str) -> str:
    """ "Relational databases" as it is written within a sentence; names keep their capital."""
    first, *others = term.split()
    lowered = term[:1].lower() + term[1:]
    is_common = first.istitle() and bool(others) and all(word.islower() for word in others)
    return lowered if is_common or re.search(rf"(?<![\w./@-]){re.escape(lowered)}(?![\w./@-])", description) else term
