"""Sentences by which a page says that its posting is closed. Conservative: a notice stands alone."""

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_NOTICE: Final = 200  # characters of a line that may be a notice; longer ones are prose
_UNREAD: Final = frozenset(
    {"head", "script", "style", "template", "noscript", "nav", "footer", "aside", "select", "dialog"}
)
_HIDING_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_HIDING_CLASSES: Final = frozenset({"hidden", "d-none", "is-hidden", "hide", "sr-only", "visually-hidden"})
_OTHER_JOBS: Final = re.compile(
    r"(?:similar|related|recommended|other|more)[-_]?(?:jobs|postings|roles|positions|listings)", re.I
)
_CARD_PARTS: Final = "div, p, li, article, h1, h2, h3, h4, h5, h6"

_THING: Final = (
    r"(?:this|the|that) (?:(?:job|work) )?(?:job|position|role|vacancy|posting|post|ad|advert|advertisement|listing|"
    r"opening|opportunity|requisition|offer)(?: (?:that )?(?:you are|you're|you were) looking for| you requested)?"
)
_FOR_IT: Final = r"(?: (?:for|to) (?:it|(?:this|the) (?:job|position|role|vacancy|posting|opening|opportunity)))?"
_PEOPLE: Final = r"(?:new )?(?:applications?|applicants|candidates|submissions)"
_LEAD: Final = r"(?:(?:(?:we're |we are )?(?:very )?sorry|unfortunately|oops|notice|note)[,:]?(?: but)? )?"
_TAIL: Final = r"(?: (?:anymore|any more|any longer|now|at this time))?"

_CLAUSES: Final = re.compile(r",? (?:and|because) |, (?:but|so|since|as) ")
_COURTESY: Final = re.compile(
    r"(?:thank you|thanks|many thanks)(?: (?:very|so) much)? for (?:your interest|visiting|applying|looking)"
    r"(?: (?:in|at) [^,]{1,60})?|we appreciate your interest(?: in [^,]{1,60})?"
)

_NOTICES: Final = tuple(
    (re.compile(rf"{_LEAD}(?:{pattern}){_TAIL}"), code)
    for pattern, code in (
        (
            rf"(?:(?:{_THING} (?:is|are)|we are|we're|currently|it is) )?(?:currently )?"
            rf"(?:no longer|not currently) accepting {_PEOPLE}{_FOR_IT}",
            "NOTICE_NOT_ACCEPTING",
        ),
        (rf"{_THING} (?:isn't|is not) accepting {_PEOPLE}", "NOTICE_NOT_ACCEPTING"),
        (rf"we no longer accept (?:any )?{_PEOPLE}{_FOR_IT}", "NOTICE_NOT_ACCEPTING"),
        (
            rf"(?:the )?applications?{_FOR_IT} (?:are|is|have been|has been|have|has) (?:now |currently )?closed"
            rf"{_FOR_IT}|(?:the )?application (?:period|window){_FOR_IT} (?:is|has) (?:now )?(?:closed|ended)",
            "NOTICE_CLOSED",
        ),
        (
            rf"{_THING} (?:is|has|has been|was) (?:now |been |already )?closed"
            r"|(?:job|position|role|vacancy|posting) closed",
            "NOTICE_CLOSED",
        ),
        (
            rf"{_THING} (?:is|has been|was) (?:now |already )?filled"
            r"|(?:job|position|role|vacancy) (?:has been )?filled",
            "NOTICE_FILLED",
        ),
        (rf"{_THING} (?:has|is) (?:now )?expired|(?:job|posting|listing|vacancy) expired", "NOTICE_EXPIRED"),
        (
            rf"{_THING} (?:is no longer|isn't|is not|is not currently) "
            r"(?:available|active|open|live|online|listed|posted)"
            rf"|{_THING} (?:no longer exists|does not exist|doesn't exist)"
            rf"|{_THING} (?:has been|was) (?:removed|taken down|withdrawn|cancelled|canceled|archived|deactivated)"
            r"|(?:job|position|role|vacancy|posting) (?:is )?no longer available",
            "NOTICE_UNAVAILABLE",
        ),
        (
            r"diese (?:stelle|stellenanzeige|position|anzeige|ausschreibung) ist (?:leider )?nicht mehr "
            r"(?:verfügbar|aktiv|online|aktuell)"
            r"|cette (?:offre|annonce)(?: d'emploi)? n'est plus (?:disponible|en ligne)"
            r"|tato (?:nabídka|pozice)(?: práce)? (?:již|už) není (?:aktuální|dostupná|aktivní)",
            "NOTICE_UNAVAILABLE",
        ),
    )
)


def find_closing_notice(html: str) -> str:
    """The bounded code of the first closing notice that a reader would see, "" where there is none."""
    for line in _list_visible_lines(html):
        code = match_notice(line)
        if code:
            return code
    return ""


def match_notice(line: str) -> str:
    """The code of a short line with a sentence that says no more than that the posting is closed, else ""."""
    if len(line) > MAX_NOTICE:
        return ""
    text = " ".join(line.translate({0x2018: "'", 0x2019: "'", 0x02BC: "'", 0x00A0: " "}).casefold().split())
    for sentence in re.split(r"[.!?;](?:\s|$)|\s[-–—|]\s|^- ", text):
        whole = sentence.strip(" .!*•")
        if code := _match_clause(whole):
            return code
        codes = [_match_clause(clause) for clause in _CLAUSES.split(whole) if not _COURTESY.fullmatch(clause)]
        if codes and all(codes):
            return codes[0]
    return ""


def _match_clause(clause: str) -> str:
    return next((code for pattern, code in _NOTICES if pattern.fullmatch(clause)), "")


def _list_visible_lines(html: str) -> list[str]:
    """Lines of the page without what is hidden, its navigation, and the cards of other jobs."""
    from selectolax.lexbor import LexborHTMLParser

    from discovery.text import html_to_text

    body = LexborHTMLParser(html).body
    if body is None:
        return []
    # From the last to the first: destroying an element frees what is inside, which must not be touched again.
    for node in reversed([node for node in body.css("*") if node.tag != "body" and _is_beside_the_point(node)]):
        node.decompose()
    return html_to_text(body.html or "").splitlines()


def _is_beside_the_point(node: "LexborNode") -> bool:
    if node.tag in _UNREAD:
        return True
    attributes = node.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    if _HIDING_STYLE.search(attributes.get("style") or "") or _HIDING_CLASSES & set(names.split()):
        return True
    is_card = node.tag == "a" and node.css_first(_CARD_PARTS) is not None
    return is_card or _OTHER_JOBS.search(names) is not None
