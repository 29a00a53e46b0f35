"""Sentences of running text."""

import re

_BREAK = re.compile(r"(?<=[.!?…])(['\"”’)\]]*)\s+(?=['\"“‘(\[]*[^\W\d_a-z]|['\"“‘(\[]*\d)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|[A-Za-z]\.[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|Inc|Ltd|Co|Corp|Jr|Sr|vs|etc|approx|No|Ph\.D|ca|bzw|"
    r"z\.\s?B)\.$"
)


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences in order; joined by spaces they are the text again. Abbreviations and initials do not end one."""
    sentences: list[str] = []
    start = 0
    for found in _BREAK.finditer(text):
        end = found.start() + len(found[1])
        if _ABBREVIATION.search(text[start:end]):
            continue
        sentences.append(text[start:end].strip())
        start = end
    sentences.append(text[start:].strip())
    return tuple(sentence for sentence in sentences if sentence)
