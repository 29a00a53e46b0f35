"""The checkable facts a sentence asks for: years, degrees, spoken languages, papers, places."""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

_NUMBER_WORDS: Final = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
_YEARS: Final = re.compile(
    r"(?<![\d.$€£])(?:(?P<digits>\d{1,2})|\b(?P<word>" + "|".join(_NUMBER_WORDS) + r")\b(?:\s?\(\d{1,2}\))?)"
    r"\s?(?:\+|plus)?\s?(?:(?:-|–|—|to|bis|à|až|a)\s?\d{1,2}\s?\+?)?\s?(?:or more |full |whole )?"
    r"(?:years?|yrs?|jahre?n?|ans|années|años|rok[yů]?|roky|let\b|年)",
    re.IGNORECASE,
)
_EXPERIENCE_NEAR: Final = re.compile(
    r"experience|experiencia|expérience|erfahrung|zkušenost|praxe|praxi|経験|background|"
    r"track record|working|hands|professional|"
    r"industry|\bin\b|\bof\b|\bas\b|\bwith\b|leading|managing|building|developing|admin|"
    r"relevant|prior|previous|utilizing|using|recruiting|sourcing|selling",
    re.IGNORECASE,
)
_NOT_EXPERIENCE: Final = re.compile(
    r"\b(?:years? (?:ago|old|of age|in business|in a row)|founded|established|history|"
    r"over the (?:last|past)|(?:last|past|next|first) \w+ years|"
    r"(?:18|21) years|contract|warranty|for over|years running|we have|we've)\b",
    re.IGNORECASE,
)

PHD, MASTER, BACHELOR, ASSOCIATE, SCHOOL = 5, 4, 3, 2, 1
_DEGREES: Final = (
    (
        SCHOOL,
        re.compile(
            r"\bhigh school\b|\bGED\b|\bsecondary school\b|\babitur\b|\bmaturit\w*|"
            r"\bbaccalauréat\b|\bbachillerato\b|\bausbildung\b",
            re.I,
        ),
    ),
    (
        ASSOCIATE,
        re.compile(
            r"\bassociate'?s?(?:’s)? degree\b|\b(?:A\.?S\.?|A\.A\.) degree|\bBTS\b|"
            r"\bvocational (?:degree|training)\b|\bdiploma\b",
            re.I,
        ),
    ),
    (
        BACHELOR,
        re.compile(
            r"\bbachelor\w*|\bB\.?\s?Sc?\b\.?|\bB\.S\.?|\bBS/MS\b|\bB\.?A\.?(?= (?:degree|in|or)\b|"
            r"/)|\bBA\b(?=\W*\Z)|\bB\.?Eng\b|\bBEng\b|\bundergraduate degree\b|\bBSN\b|"
            r"\bbakalář\w*|\blicence\b(?= en)|\bgrado en\b|大卒|学士",
            re.I,
        ),
    ),
    (
        MASTER,
        re.compile(
            r"(?<!scrum )\bmaster(?:'s|’s|s)?(?=(?: of| in|'s|’s)? ?(?:degree|science|arts|"
            r"business|computer|engineering|program|data|in\b|or\b|of\b|\)|,|\Z))|\bM\.?Sc\b|"
            r"\bM\.S\.?|\bMS\b(?= (?:in|degree|or))|\bMBA\b|\bM\.?Eng\b|\bdiplom\b|"
            r"\bingénieur diplômé|\bbac\s?\+\s?5\b|\bmagist\w+|\bvysokoškolsk\w+|修士",
            re.I,
        ),
    ),
    (PHD, re.compile(r"\bph\.?\s?d\b|\bdoctora(?:te|l)\b|\bpromotion in\b|\bdoctorado\b|博士", re.I)),
)
_ANY_DEGREE: Final = re.compile(
    r"\b(?:college|university|advanced|graduate|technical|relevant) degree\b|\bdegree in\b|"
    r"\babgeschlossenes studium\b|\bstudium\b|\bdiplôme\b|\btítulo\b|\bdegree or\b",
    re.I,
)
_STUDY_WORDS: Final = re.compile(
    r"degree|bachelor|master|ph\.?d|diplom|studium|\bmba\b|b\.?sc|m\.?sc|\bbs\b|\bms\b|"
    r"education|university|college|graduat|school|ged\b|学|abitur|ausbildung|maturit|grado|"
    r"vysokošk|bakal|\bba\b|bts|\b[bm]\.?eng|doctor",
    re.I,
)
_FIELDS: Final = {
    "computing": r"computer|software|informatik|informatics|information (?:technology|systems)|"
    r"computing|\bcs\b|informatique|informática|cybersecurity|data science",
    "quantitative": r"math|statistic|physics|quantitative|operations research|actuarial|\bstem\b|econometric",
    "engineering": r"engineering|ingenieur|\btechnical (?:field|discipline)",
    "business": r"business|\bmba\b|economics|finance|accounting|management|commerce|betriebswirtschaft|"
    r"administration",
    "health": r"nursing|medicine|medical|health|pharmac|biolog|\bbsn\b|clinical|physiotherap|dental",
    "law": r"\blaw\b|legal|jurist",
    "arts": r"design|fine arts|graphic|journalism|communications?\b|marketing|literature|english|"
    r"humanities|psychology",
    "education": r"\beducation\b|teaching|pedagog",
}
_FIELD_PATTERNS: Final = {name: re.compile(pattern, re.I) for name, pattern in _FIELDS.items()}
_NEAR_FIELDS: Final = {
    frozenset({"computing", "quantitative"}),
    frozenset({"computing", "engineering"}),
    frozenset({"quantitative", "engineering"}),
    frozenset({"business", "quantitative"}),
}
EQUIVALENT: Final = re.compile(
    r"equivalent|comparable|or (?:relevant|related|similar|practical) (?:work )?experience|"
    r"vergleichbar|équivalent|equivalente|or (?:\d|\w+ years)",
    re.I,
)

_WORD: Final = re.compile(r"[^\W\d_]+")
_SPOKEN: Final = re.compile(
    r"fluen|native|proficien|bilingual|speak|spoken|written|mother tongue|\b[ABC][12]\b|"
    r"language|command of|kenntnisse|fließend|verhandlungssicher|"
    r"muttersprach|sprache|in wort und schrift|courant|langue|maîtrise|niveau|nivel|idioma|"
    r"dominio|hablad|plynn|znalost|úroveň|komunikativní|ビジネスレベル|流暢|会話|"
    r"level|verbal|conversational|avanzad|pokročil|requis|excellent|strong|good|business",
    re.I,
)
_LATIN_LETTERS: Final = re.compile(r"[A-Za-z]")

CLEARANCE: Final = re.compile(
    r"\bsecurity clearance\b|\b(?:top[- ])?secret clearance\b|\bTS/SCI\b|"
    r"\bclearance (?:is )?(?:required|level)\b|\b(?:active|secret|SC|DV|"
    r"polygraph) clearance\b|\bsicherheitsüberprüfung\b|\bpublic trust\b",
    re.I,
)
LICENCE: Final = re.compile(
    r"\b(?:RN|LPN|CNA|nursing|nurse|medical|pharmac\w+|driver'?s?|driver’s|driving|CDL|"
    r"teaching|bar|CPA|real estate|insurance|forklift|electrician\w*|professional engineer|"
    r"state|plumb\w+|staplerfahrer|class [ABC])\s(?:\w+\s){0,2}(?:licen[sc]e|licensure|"
    r"certificate|certification)\b|\b(?:führerschein|staplerschein|permis [BC]|"
    r"permis de conduire|"
    r"carn[eé] de conducir|řidičský průkaz\w*|普通自動車免許|看護師免許)|\blicen[sc]ed (?:registered|"
    r"practical|clinical|attorney|physician|electrician|professional)\b|"
    r"\bvalid (?:\w+ ){0,3}licen[sc]e\b|\bactive (?:\w+ ){0,3}licen[sc]e\b|"
    r"\bcurrent (?:\w+ ){0,3}licen[sc]e\b|\bregistered with the (?:\w+ ){1,5}(?:council|"
    r"board)\b|\bNMC (?:pin|registration)\b|\bBLS certification\b|\bCDL\b",
    re.I,
)
AUTHORIZATION: Final = re.compile(
    r"\b(?:authoriz|authoris)(?:ed|ation) to work\b|\bwork authori[sz]ation\b|"
    r"\bright to work\b|\bwork permit\b|\bvisas?\b|\bsponsorship\b|"
    r"\bsponsor\b(?=.{0,30}\b(?:visa|candidate|work))|"
    r"\b(?:US|U\.S\.|EU|UK|United States) (?:citizen|national|person)|\bcitizenship\b|"
    r"\bcitizens?\b(?= (?:only|or|required))|\bgreen card\b|\bpermanent resident\b|"
    r"\barbeitserlaubnis\b|\bpermis de travail\b|\bpermiso de trabajo\b|"
    r"\bpracovní povolení\b|就労ビザ",
    re.I,
)
PLACE: Final = re.compile(
    r"\bon-?site\b|\bin[- ](?:the )?office\b|\bfrom (?:our|the) (?:\w+ ){0,3}office\b|"
    r"\bable to work (?:\w+ ){0,3}(?:saturday|sunday|weekend|night|holiday)s?\b|"
    r"\bin[- ]person\b|\bhybrid\b(?! cloud| app)|"
    r"\brelocat\w+|\bcommut\w+|\bmust (?:be located|live|reside|be based|"
    r"be willing to travel)\b|\b(?:role|position|job|you|candidates?)\b.{0,40}\b(?:located|"
    r"based) in\b|"
    r"\btravel(?:ing|ling)?\b(?=.{0,25}(?:\d{1,3}\s?%|required|domestic|international|"
    r"approximately|up to))|\b\d{1,3}\s?%.{0,20}\btravel\b|"
    r"\bwilling(?:ness)?\b.{0,30}\bto travel\b|\breisebereitschaft\b|\btime ?zone\b|"
    r"\bremote (?:within|in|from|only)\b|\b(?:night|weekend|rotating) shifts?\b|"
    r"\blift(?:ing)? (?:up to )?\d+",
    re.I,
)


@dataclass(frozen=True, slots=True)
class DegreeAsked:
    level: int  # the lowest level that is enough; BACHELOR where the text says only "a degree"
    fields: frozenset[str]
    takes_equivalent: bool
    takes_related: bool


def find_years(text: str) -> int | None:
    """The lowest number of years of experience the sentence asks for: 3 in "3-7 years experience", 0 in "0-2"."""
    for match in _YEARS.finditer(text):
        around = text[max(0, match.start() - 60) : match.end() + 60]
        if _NOT_EXPERIENCE.search(around) or not _EXPERIENCE_NEAR.search(around):
            continue
        word = match.group("word")
        years = _NUMBER_WORDS[word.lower()] if word else int(match.group("digits"))
        if years <= 30:
            return years
    return None


def find_degree(text: str) -> DegreeAsked | None:
    if not _STUDY_WORDS.search(text):
        return None
    levels = [level for level, pattern in _DEGREES if pattern.search(text)]
    if not levels and not _ANY_DEGREE.search(text):
        return None
    return DegreeAsked(
        level=min(levels) if levels else BACHELOR,
        fields=find_study_fields(text),
        takes_equivalent=EQUIVALENT.search(text) is not None,
        takes_related=re.search(
            r"related|similar|relevant|verwandt|similaire|afín|any field|technical|quantitative|"
            r"\bstem\b",
            text,
            re.I,
        )
        is not None,
    )


def find_highest_degree(text: str) -> int:
    """0 where the text names no degree."""
    return max((level for level, pattern in _DEGREES if pattern.search(text)), default=0)


@lru_cache(maxsize=1024)
def find_study_fields(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _FIELD_PATTERNS.items() if pattern.search(text))


def are_near_fields(one: frozenset[str], two: frozenset[str]) -> bool:
    return any(frozenset({a, b}) in _NEAR_FIELDS for a in one for b in two)


@cache
def _load_language_words() -> dict[str, str]:
    """The English name of a language by every word for it that a posting may use."""
    names: dict[str, str] = json.loads(Path(__file__).with_name("languages.json").read_text(encoding="utf-8"))
    return {word: name for name, words in names.items() for word in words.split()}


def find_languages(text: str, *, needs_cue: bool) -> tuple[str, ...]:
    """Spoken languages named. ``needs_cue``: only where the words around speak of knowing one."""
    if needs_cue and not _SPOKEN.search(text):
        return ()
    lowered = text.lower()
    names = _load_language_words()
    spoken = (word.lower() for word in _WORD.findall(text) if word != "polish")  # the verb
    found = [names[word] for word in spoken if word in names]
    if not text.isascii():
        found += [name for word, name in names.items() if not _LATIN_LETTERS.match(word) and word in lowered]
    return tuple(dict.fromkeys(found))
