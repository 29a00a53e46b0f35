"""What the words of one sentence say: how much it matters, and whether it is a requirement at all."""

import re
from typing import Final


def _compile(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


NICE: Final = _compile(
    r"\bnice[- ]to[- ]have",
    r"\bbonus\b",
    r"\b(?:is|are|as|be|considered|definite|big|strong|huge) an? (?:\w+ )?plus\b",
    r"\ba (?:big |huge |strong |definite )?plus\b",
    r"\bplus if\b",
    r"\bideally\b",
    r"\bprefer(?:red|ably|able)\b",
    r"\bdesir(?:ed|able)\b",
    r"\b(?:an|of) advantage\b",
    r"\badvantageous\b",
    r"\bgood to have\b",
    r"\bbeneficial\b",
    r"\bvon vorteil\b",
    r"\bwünschenswert\b",
    r"\bidealerweise\b",
    r"\bgerne auch\b",
    r"\b(?:est|serait) un (?:vrai |réel )?(?:plus|atout)\b",
    r"\bidéalement\b",
    r"\bsouhaité",
    r"\bse valorar",
    r"\bdeseable\b",
    r"\bes un plus\b",
    r"\bvalorable\b",
    r"\bvýhod(?:ou|a|y)\b",
    r"\boceníme\b",
    "歓迎",
    "尚可",
    r"\bnot required\b",
    r"\boptional(?:ly)?\b",
)

NICE_TAIL: Final = re.compile(
    r"[,;(–—-]\s*(?=(?:and |or |und |et |y )?(?:preferably|ideally|bonus|nice to have|"
    r"idealerweise|idéalement|preferred|desirable|wünschenswert)\b)",
    re.IGNORECASE,
)

STRESSED: Final = _compile(
    r"\b(?:strong|deep|expert|extensive|excellent|advanced|solid|proven|must(?: have)?|"
    r"required|essential|mandatory|fluent|in-depth|proficien\w+)\b",
    r"\b(?:fundiert|sehr gut|ausgeprägt|zwingend|maîtrise|sólid|imprescindible|výborn|nutn)\w*",
    "必須",
)

MILD: Final = _compile(
    r"\b(?:familiar(?:ity)?|exposure|basic|some experience|interest in|awareness|"
    r"willing(?:ness)? to learn|curious|understanding of)\b",
    r"\b(?:grundkenntnisse|notions|conocimientos básicos|základní)\b",
)

# A wish in running text, where no heading says that a list of requirements follows.
WISH: Final = _compile(
    r"\b(?:looking for|seeking|search(?:ing)? for|you (?:have|are|know|bring|possess)|"
    r"you(?:'|’)(?:re|ve)|must|required?s?|experience (?:with|in|of)|"
    r"experienced|knowledge of|proficien\w+|skilled|familiar\w*|expertise|background in|"
    r"\d\+? years|ability to|candidate|hiring|(?:you|we) need|our stack|tech stack|"
    r"technologies|we use|stack\s?[:=]|built (?:with|on|in)|(?:build\w*|applications?|"
    r"services?|products?) using|work(?:ing)? with)\b",
    r"\b(?:wir suchen|du hast|sie haben|erfahrung|kenntnisse|nous recherchons|vous avez|"
    r"expérience|buscamos|experiencia|hledáme|zkušenost\w*|znalost\w*)\b",
    "経験",
    "募集",
)

BOILERPLATE: Final = _compile(
    r"\bequal[- ](?:opportunity|employment)\b",
    r"\bregardless of (?:\w+,? ){0,3}(?:race|gender|age|background|colou?r|religion)\b",
    r"\b(?:race|colou?r), ",
    r"\bsexual orientation\b",
    r"\bgender identity\b",
    r"\bveteran status\b",
    r"\breasonable accommodations?\b",
    r"\be-verify\b",
    r"\bdiscriminat",
    r"\b401\s?\(?k\)?",
    r"\bpaid time off\b",
    r"\bpto\b",
    r"\b(?:health|dental|vision|medical) insurance\b",
    r"\bdental\b.{0,30}\bvision\b",
    r"\bparental leave\b",
    r"\bstock options?\b",
    r"\bequity package\b",
    r"\b(?:base |annual )?(?:salary|pay|compensation) (?:range|is|for|band)\b",
    r"\bvacation days\b",
    r"\bpersonal data\b",
    r"\bprivacy (?:notice|policy)\b",
    r"\brecruitment (?:fraud|scam)",
    r"\bnever ask\b",
    r"\bapplicant privacy\b",
    r"\bwe (?:offer|provide|celebrate|value diversity)\b",
    r"\bwir bieten\b",
    r"\bnous offrons\b",
    r"\bofrecemos\b",
    r"\bnabízíme\b",
    r"\bgleichberechtigung\b",
    r"\bsend (?:your|us|me) (?:\w+ )?(?:resume|cv)\b",
    r"\bapply (?:at|here|via|now|online|by)\b",
    r"\bscammer",
    r"\bbackground checks?\b",
    r"\b(?:stipend|bonus plan|gym membership|free lunch|wellness)\b",
    r"\bthe annual OTE\b",
    r"\bfraudulent",
)

# Prose about the employer, where it does not speak to the reader.
_EMPLOYER: Final = _compile(
    r"\bour (?:platform|customer|client|product|mission|company|vision|investor|user|founder)s?\b",
    r"\bwe (?:help|are building|build|believe|enable|empower|were founded|raised|serve)\b",
    r"\bis (?:a|an|the) (?:[\w-]+,? ){0,5}(?:company|platform|start-?up|leader|provider|"
    r"agency|service|consultancy|firm|marketplace)\b",
    r"\bhelps? (?:\w+ ){0,3}(?:companies|businesses|people|customers|teams|organizations)\b",
)
_READER: Final = re.compile(
    r"\b(?:you|your|du|sie|ihr|vous|tu|usted|looking for|seeking|candidate|stack|required|must)\b", re.IGNORECASE
)

_WAIVED: Final = _compile(
    r"\bno \b(?:[\w'’]+ ){0,4}(?:clearance|licen[sc]e|visa|travel|relocation)\b.{0,30}"
    r"\b(?:required|needed|necessary)\b",
    r"\b(?:clearance|licen[sc]e|visa|travel|relocation) (?:is )?not (?:required|needed|necessary)\b",
)
_HELPED_WITH: Final = _compile(
    r"\bwe (?:can |do |will |happily |gladly )*(?:sponsor|support)\b.{0,20}\bvisas?\b",
    r"\b(?:visa|relocation) (?:sponsorship|support|assistance|package)?\s?"
    r"(?:is |are )?(?:available|provided|offered|possible)\b",
    r"\b(?:offer|provide)s? (?:visa|relocation)\b",
)
_NEGATED: Final = re.compile(r"\b(?:not?|cannot|unable|never|without)\b|n['’]t\b", re.IGNORECASE)


_REFUSED: Final = _compile(
    r"(?:^\W*|[,;:(–—]\s*|\b(?:and|but) )(?:no|not)\s+(?!(?:less|fewer|more|only|just|limited|matter|one|later|afraid|"
    r"shy|stranger|sql|code|least|be|too|two|hard|every|exclusively|nonsense|person|remote|problem|issue|fear|doubt|"
    r"necessarily|mandatory|required|needed|to)\b)(?:(?!\b(?:but|you|we)\b)[^,;:.()–—])*",
    r"\b(?:we|our team|the team)(?: do not|['’]t| don['’]t| never| no longer| are not)\s+"
    r"(?:use|using|do|doing|write|run|work with|work in|need|require|want)\b"
    r"(?:(?!\bbut\b|\bhowever\b|, (?:we|you|\w+ (?:is|are))\b)[^;:.])*",
)
_PEOPLE: Final = r"\b(?:engineer|developer|candidate|talent|programmer|designer|analyst|scientist|professional)s?\b"
_OF_OTHERS: Final = re.compile(
    r"(?<=[\w+] )(?<!we are )(?<!we're )(?<!currently )(?<!event )(?<!data )"
    rf"(recruiting|headhunting|sourcing|placing)\b[^;:.]*?{_PEOPLE}(?: for [^;:.,]*)?",
    re.IGNORECASE,
)


def drop_refused(text: str) -> str:
    """The sentence without what it says it does not want: "Python, not Java" names Python."""
    return _REFUSED.sub(" ", text)


def drop_unwanted(text: str) -> str:
    """As ``drop_refused``, and without what others are to know: who recruits Python engineers need not be one."""
    return _OF_OTHERS.sub(r"\1", drop_refused(text))


def is_waived(text: str) -> bool:
    """The posting says that the paper is not asked for, or that it helps with it."""
    if _WAIVED.search(text):
        return True
    return _HELPED_WITH.search(text) is not None and _NEGATED.search(text) is None


def is_nice(text: str) -> bool:
    return NICE.search(text) is not None


def is_boilerplate(text: str) -> bool:
    return BOILERPLATE.search(text) is not None


def is_about_employer(text: str) -> bool:
    return _EMPLOYER.search(text) is not None and _READER.search(text) is None


def speaks_to_reader(text: str) -> bool:
    return _READER.search(text) is not None


def get_emphasis(text: str) -> float:
    if MILD.search(text):
        return 0.75
    return 1.25 if STRESSED.search(text) else 1.0
