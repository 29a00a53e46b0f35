"""Leftovers of a template: text that was meant to be filled in before anybody sees it."""

import re

_NOUNS = (
    r"(?:(?:your|the|my|hiring|insert|enter|add|applicant'?s?|candidate'?s?|recipient'?s?|target)\s+)*"
    r"(?:company|employer|organi[sz]ation|name|role|position|job|title|date|address|email|e-mail|phone|manager|team|"
    r"city|skill|skills|number|metric|x+|here)"
    r"(?:[\s_-]+(?:name|title|here|address|number|manager|description|date))*"
)
# Certain in any text, the candidate's own included: nobody would send these words.
_CERTAIN = re.compile(
    rf"\{{\{{\s*{_NOUNS}\s*\}}\}}|\[\s*{_NOUNS}\s*\]|<\s*{_NOUNS}\s*>|\$\{{\s*{_NOUNS}\s*\}}"
    r"|\{\{\s*[A-Z][A-Z_ ]+\s*\}\}|\[[A-Z][A-Z_ ]+_[A-Z_ ]+\]|\blorem ipsum\b",
    re.IGNORECASE,
)
# Suspect unless the candidate wrote it: a posting's title may be "<b>", a bullet may speak of "{{ templates }}".
_SUSPECT = re.compile(r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|<[A-Za-z][^<>]*>|\bTODO\b|\bTBD\b|\bFIXME\b|\bX{3,}\b|\blorem\b")


def find_leftovers(text: str) -> tuple[str, ...]:
    """Placeholders that no finished document holds, whoever wrote them."""
    return tuple(found.group() for found in _CERTAIN.finditer(text))


def find_suspects(text: str) -> tuple[str, ...]:
    """``find_leftovers`` and whatever looks like a template in text that is not the candidate's own."""
    return (*find_leftovers(text), *(found.group() for found in _SUSPECT.finditer(text)))
