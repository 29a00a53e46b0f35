"""Whether a bullet such as "Cut latency 40%" stays true and grammatical after "I"."""

import re
from functools import lru_cache


def _read_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_IRREGULAR = _read_words(
    "led cut built rebuilt wrote rewrote won ran reran grew drove brought taught took made held set kept spoke oversaw "
    "began gave found sold sped shrank saw met spun sent put laid dug split chose came became got went shut left "
    "fought caught bought stood understood broke drew hit bound upheld withdrew undertook overcame"
)
# Words ending in -ed that describe rather than act, and nouns.
_NOT_PAST = _read_words(
    "need speed seed feed embed exceed proceed succeed breed weed bleed indeed hundred kindred shed unparalleled "
    "advanced certified skilled experienced distributed dedicated detailed related gifted talented motivated limited "
    "licensed qualified accomplished seasoned self-motivated bed red based varied sacred embedded combined"
)
# "Awarded 'Teacher of the Month'" was done to the candidate; "I awarded" would turn it round.
_PASSIVE = _read_words(
    "awarded promoted nominated named recognized recognised invited appointed ranked honored honoured elected "
    "chosen featured granted commended rated voted tasked entrusted responsible known educated "
    "accepted shortlisted inducted credited cited praised employed "
)
# After most verbs a preposition means the object is missing ("Used in two courses"); these take one.
_TAKES_PREPOSITION = _read_words(
    "worked collaborated partnered consulted contributed reported served spoke participated responded presented "
    "volunteered focused liaised helped acted advised assisted advocated experimented specialized specialised "
    "interfaced coordinated communicated negotiated dealt cared looked lectured travelled traveled competed"
)
_PREPOSITIONS = _read_words("by with in to from for as at on into of within across through using via and or")
_NOT_ADVERBS = _read_words("family weekly monthly daily early only assembly yearly hourly quarterly supply july")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SENTENCE_BREAK = re.compile(r"[.!?]['\")\]]*\s+\S")
_OTHER_PERSON = re.compile(r"\b(?:he|she|his|her|hers|him)\b", re.IGNORECASE)


@lru_cache(maxsize=2048)  # the candidate's lines come again for each job
def follows_subject(bullet: str) -> bool:
    """True where "I" plus the bullet is a sentence that claims what the bullet claims; else it is to be quoted."""
    if _SENTENCE_BREAK.search(bullet) or _OTHER_PERSON.search(bullet):
        return False
    words = bullet.split()
    if len(words) < 3 or _WORD.fullmatch(words[0]) is None:
        return False
    if words[0] == "I":
        return is_past_verb(words[1]) and words[1] not in _PASSIVE
    first, second = words[0], words[1].strip(",;:").casefold()
    if first != first.capitalize():
        return False
    if _is_adverb(first) and is_past_verb(second):
        first, second = second, words[2].strip(",;:").casefold()
    if not is_past_verb(first) or first.casefold() in _PASSIVE:
        return False
    return second not in _PREPOSITIONS or first.casefold() in _TAKES_PREPOSITION or _has_shared_object(words)


def attach_subject(bullet: str) -> str:
    """The bullet as it reads after "I"."""
    text = bullet.removeprefix("I ")
    return text[:1].lower() + text[1:]


def choose_article(noun: str) -> str:
    """ "a ", "an ", or "" for titles that one person holds ("CTO", "Head of Data")."""
    first = noun.split(maxsplit=1)[0] if noun.split() else ""
    if re.fullmatch(r"C[A-Z]{2}(?:/.*)?|[SE]?VP|Head|Chief|Vice|President|Managing|Director", first):
        return ""
    # Acronyms are read letter by letter: an SRE, an ML engineer, a QA analyst.
    if re.fullmatch(r"[A-Z]{2,4}", first):
        return "an " if first[0] in "AEFHILMNORSX" else "a "
    if re.match(r"(?:uni|use|user|eu|one)", first, re.IGNORECASE):
        return "a "
    return "an " if first[:1].casefold() in set("aeiou") else "a "


def is_past_verb(word: str) -> bool:
    """An ordinary English verb in the past tense, by form; adjectives that look like one are not."""
    plain = word.casefold()
    if plain in _IRREGULAR:
        return True
    root = plain.rsplit("-", 1)[-1]
    return len(root) >= 4 and root.endswith("ed") and plain not in _NOT_PAST and root not in _NOT_PAST


def _is_adverb(word: str) -> bool:
    plain = word.casefold()
    return plain.endswith("ly") and len(plain) > 4 and plain not in _NOT_ADVERBS


def _has_shared_object(words: list[str]) -> bool:
    """ "Designed and built the API": two verbs share what follows."""
    return (
        len(words) > 3
        and words[1].casefold() in ("and", "or")
        and is_past_verb(words[2])
        and words[2].casefold() not in _PASSIVE
        and words[3].casefold() not in _PREPOSITIONS
    )
