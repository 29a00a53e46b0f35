"""Every sentence a letter may be built from. Frames add no claim: what they say of the candidate is the slot's fact.

A letter is checked by rendering all frames for the cited evidence and comparing, so a slot cannot be talked round.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from discovery.contracts import Experience, ProfileDocument
from materials.grounding.grammar import attach_subject, choose_article, follows_subject

UNKNOWN_COMPANIES = frozenset(
    {"", "unknown", "confidential", "n/a", "na", "none", "null", "-", "—", "company", "stealth"}
)

GREETING = "Dear Hiring Team at {company},"
GREETING_UNKNOWN = "Dear Hiring Team,"
CLOSINGS = ("Kind regards,", "Best regards,", "Sincerely,", "Yours sincerely,")

OPENING = "I am writing to apply for the {title} role at {company}."
OPENING_LONG = "I am writing to apply for the position of {title} at {company}."
OPENING_TITLE = "I am writing to apply for the {title} role."
OPENING_TITLE_LONG = "I am writing to apply for the position of {title}."
OPENING_COMPANY = "I am writing to apply for the role you advertise at {company}."
OPENING_BARE = "I am writing to apply for the role you advertise."
INVITATION = "I would welcome the chance to talk about the role and about what you need from the person who takes it."
INVITATION_COMPANY = "I would welcome the chance to talk about the role and about what {company} needs from it."
THANKS = "Thank you for your time and consideration."
ENCLOSURE = "My resume has the dates and the details."

REQUIREMENT_FIRST = "Your posting asks for {requirement}."
REQUIREMENT_NEXT = "You also ask for {requirement}."
SKILLS = "Of the skills your posting names, mine include {skills}."

WORK_FULL = "As {article}{position} at {organization}, I {fact}"
WORK_SHORT = "At {organization}, I {fact}"
WORK_EARLIER = "Earlier, as {article}{position} at {organization}, I {fact}"
WORK_POSITION = "As {article}{position}, I {fact}"
WORK_QUOTE = "From my work as {article}{position} at {organization}: “{fact}”"
WORK_QUOTE_SHORT = "From my work at {organization}: “{fact}”"
WORK_QUOTE_POSITION = "From my work as {article}{position}: “{fact}”"
VOLUNTEER = "As a volunteer with {organization}, I {fact}"
VOLUNTEER_QUOTE = "From my volunteering with {organization}: “{fact}”"
VOLUNTEER_POSITION_QUOTE = "From my volunteering as {article}{position}: “{fact}”"
PROJECT = "In my project {position}, I {fact}"
PROJECT_QUOTE = "From my project {position}: “{fact}”"
ALSO = "I also {fact}"
SUMMARY_ROLE = "I am {article}{fact}"
CURRENT = "I currently work as {article}{position} at {organization}."
LATEST = "Most recently, I worked as {article}{position} at {organization}."

_BY_KIND = {
    "work": (
        (WORK_FULL, WORK_SHORT, WORK_POSITION, ALSO),
        (WORK_QUOTE, WORK_QUOTE_SHORT, WORK_QUOTE_POSITION),
    ),
    "volunteer": ((VOLUNTEER, ALSO), (VOLUNTEER_QUOTE, VOLUNTEER_POSITION_QUOTE)),
    "project": ((PROJECT, ALSO), (PROJECT_QUOTE,)),
}
_ROLE_NOUN = re.compile(
    r"^(?:[\w+#./&-]+ ){0,6}?(?:engineer|developer|architect|programmer|designer|manager|analyst|scientist|consultant|"
    r"administrator|graduate|researcher|writer|teacher|specialist|technician|accountant|student|technologist)\b"
    r"(?= (?:with|who|focused|specializing|specialising|from|based|and)\b|[,.]|$)",
    re.IGNORECASE,
)
MAX_NAME = 160  # characters of a title or a company
_SPEAKS = re.compile(r"\bI(?:['’]m\b|\s+[a-z])|\b(?:my|myself)\b|[.!?]\s+\w+\s+\w+\s+\w+")
_LONG_TITLE = re.compile(r"[,(:|/]|\s[–—-]\s|\b(?:role|position)\b", re.IGNORECASE)
_NOT_ROLE_START = frozenset({"a", "an", "the", "i", "my", "as", "he", "she", "we", "our", "this", "that", "for"})


def render_fact(frame: str, *, fact: str, experience: Experience) -> str | None:
    """The sentence, or None where the frame does not suit: a slot is empty, or "I" cannot precede the bullet."""
    quoted = "“" in frame
    if not quoted and not follows_subject(fact):
        return None
    values = {"position": experience.position, "organization": experience.organization}
    if any(f"{{{slot}}}" in frame and not value for slot, value in values.items()):
        return None
    text = _end_sentence(fact) if quoted else attach_subject(fact)
    sentence = frame.format(fact=text, article=choose_article(experience.position), **values)
    return sentence if quoted else _end_sentence(sentence)


def list_fact_sentences(profile: ProfileDocument, *, fact: str, experience: Experience) -> Iterator[str]:
    """Every sentence that may state this bullet."""
    spoken, quoted = _BY_KIND.get(experience.kind, ((), ()))
    earlier = (WORK_EARLIER,) if is_earlier(profile, experience=experience) else ()
    for frame in (*spoken, *earlier, *quoted):
        sentence = render_fact(frame, fact=fact, experience=experience)
        if sentence is not None:
            yield sentence


def list_position_sentences(profile: ProfileDocument, *, experience: Experience) -> Iterator[str]:
    """What may be said of a job itself: that it is held now, or that it was the last one."""
    if experience.kind != "work" or not (experience.position and experience.organization and experience.start):
        return
    frame = LATEST if experience.end else CURRENT
    if experience.end and is_earlier(profile, experience=experience):
        return
    yield frame.format(
        article=choose_article(experience.position),
        position=experience.position,
        organization=experience.organization,
    )


def render_role(sentence: str) -> str | None:
    """ "Backend engineer with nine years ..." after "I am"; None for any other kind of sentence."""
    if _ROLE_NOUN.match(sentence) is None or sentence.split()[0].casefold() in _NOT_ROLE_START:
        return None
    first = sentence.split()[0]
    text = sentence[0].lower() + sentence[1:] if first == first.capitalize() else sentence
    return _end_sentence(SUMMARY_ROLE.format(article=choose_article(text), fact=text))


def list_summary_sentences(sentence: str) -> Iterator[str]:
    """A sentence of the summary as it is, or after "I am" where it names a role."""
    yield sentence
    framed = render_role(sentence)
    if framed is not None:
        yield framed


def join_names(names: Sequence[str]) -> str:
    """ "Python, Django and AWS"."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def choose_opening(*, title: str, company: str) -> str:
    """Names what is known. "The Engineer (Python), Platform role" would stumble; "the position of" carries it."""
    is_long = _LONG_TITLE.search(title) is not None
    if not title:
        return OPENING_COMPANY.format(company=company) if is_known(company) else OPENING_BARE
    if not is_known(company):
        return (OPENING_TITLE_LONG if is_long else OPENING_TITLE).format(title=title)
    return (OPENING_LONG if is_long else OPENING).format(title=title, company=company)


def list_free_sentences(*, title: str, company: str) -> Iterator[str]:
    """Sentences that say nothing of the candidate."""
    companies = (company, "") if is_known(company) else ("",)
    titles = (title, "") if title else ("",)
    yield from (choose_opening(title=t, company=c) for t in titles for c in companies)
    if is_known(company):
        yield INVITATION_COMPANY.format(company=company)
    yield from (INVITATION, THANKS, ENCLOSURE)


def choose_greeting(company: str) -> str:
    return GREETING.format(company=company) if is_known(company) else GREETING_UNKNOWN


def is_known(company: str) -> bool:
    return company.strip().casefold() not in UNKNOWN_COMPANIES


def is_name(text: str) -> bool:
    """False where a title or company is long enough, or so worded, that it would speak for the candidate."""
    return len(text) <= MAX_NAME and _SPEAKS.search(text) is None


def is_earlier(profile: ProfileDocument, *, experience: Experience) -> bool:
    """Ended, and another job started later."""
    if not experience.end or not experience.start:
        return False
    return any(item.kind == "work" and item.start > experience.start for item in profile.experience)


def _end_sentence(text: str) -> str:
    """With a full stop, unless it has an end already or is written in a script that has another one."""
    last = text.rstrip("'\"”’)")[-1:]
    is_ended = last in tuple(".!?…。！？") or text.endswith(tuple("。！？"))
    return text if is_ended or unicodedata.category(last or " ") == "Lo" else f"{text}."
