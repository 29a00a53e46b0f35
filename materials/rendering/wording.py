"""What a document says beside the candidate's own words, and the characters it may be written in."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from datetime import date
from typing import TypeVar, cast

from django.utils import translation
from django.utils.formats import date_format, get_format

from materials.contracts import ResumeEntry

Document = TypeVar("Document")

HEADINGS: dict[str, dict[str, str]] = {
    "en": {
        "summary": "Summary",
        "skills": "Skills",
        "experience": "Experience",
        "projects": "Projects",
        "education": "Education",
        "credentials": "Certifications",
        "awards": "Awards and publications",
        "languages": "Languages",
    },
    "de": {
        "summary": "Profil",
        "skills": "Kenntnisse",
        "experience": "Berufserfahrung",
        "projects": "Projekte",
        "education": "Ausbildung",
        "credentials": "Zertifikate",
        "awards": "Auszeichnungen und Publikationen",
        "languages": "Sprachen",
    },
    "fr": {
        "summary": "Profil",
        "skills": "Compétences",
        "experience": "Expérience professionnelle",
        "projects": "Projets",
        "education": "Formation",
        "credentials": "Certifications",
        "awards": "Distinctions et publications",
        "languages": "Langues",
    },
    "es": {
        "summary": "Perfil",
        "skills": "Competencias",
        "experience": "Experiencia",
        "projects": "Proyectos",
        "education": "Formación",
        "credentials": "Certificaciones",
        "awards": "Premios y publicaciones",
        "languages": "Idiomas",
    },
    "ja": {
        "summary": "職務要約",
        "skills": "スキル",
        "experience": "職務経歴",
        "projects": "プロジェクト",
        "education": "学歴",
        "credentials": "資格",
        "awards": "受賞・発表",
        "languages": "語学",
    },
}

LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
# The typographic hyphens look like "-" and defeat a search for "full-stack".
REPLACED = LIGATURES | {0x2010: "-", 0x2011: "-", 0x00AD: "", 0x200B: "", 0x2060: "", 0xFEFF: ""}
NOT_PROSE = frozenset({"href", "evidence_id", "evidence_ids", "language"})
WIDE_ENDS = frozenset("。！？」』）")
UNPRINTABLE = frozenset({"Cc", "Cs", "Co"})

CJK = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)
KANA = re.compile("[\u3040-\u30ff]")
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff]")


def clean_text(text: str) -> str:
    """The same words in characters that print and can be searched: composed, no ligatures, no control characters."""
    spaced = "".join(" " if char.isspace() and char != "\u00a0" else char for char in text)
    composed = unicodedata.normalize("NFC", spaced.translate(REPLACED))
    kept = "".join(char for char in composed if unicodedata.category(char) not in UNPRINTABLE)
    return re.sub(" {2,}", " ", kept).strip(" ")


def clean_document(document: Document) -> Document:
    """A copy whose every shown text is clean; links, ids and the language stay as they are."""
    return cast(Document, _clean(document))


def find_headings(language: str) -> dict[str, str]:
    return HEADINGS.get(language.lower().split("-")[0], HEADINGS["en"])


def format_letter_date(iso: str, *, language: str) -> str:
    """``2026-11-29`` as a reader of that language writes it; other text and "" unchanged."""
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        return iso
    tag = language.lower()
    with translation.override(language):
        if tag == "en" or tag.startswith("en-us"):
            return date_format(day, "F j, Y")
        if tag.startswith("en"):
            return date_format(day, "j F Y")
        return date_format(day, get_format("DATE_FORMAT"))


def choose_cjk_region(text: str, *, language: str) -> str:
    """Whose shapes of the shared ideographs to draw: ``jp``, ``kr``, ``sc`` or ``tc``."""
    tag = language.lower()
    if tag.startswith("zh"):
        return "tc" if any(part in tag for part in ("hant", "tw", "hk", "mo")) else "sc"
    if tag.startswith("ja") or KANA.search(text):
        return "jp"
    if tag.startswith("ko") or HANGUL.search(text):
        return "kr"
    return "sc"


def join_sentences(sentences: Iterable[str]) -> str:
    """One paragraph; no space after a Chinese or Japanese sentence, which carries its own."""
    paragraph = ""
    for sentence in sentences:
        gap = "" if not paragraph or paragraph[-1] in WIDE_ENDS else " "
        paragraph += gap + sentence
    return paragraph


def format_skills(group: str, skills: Iterable[str], *, language: str) -> tuple[str, str]:
    """The label with what parts it from the list ("" if the group has no name), and the list."""
    colon, comma = ("：", "、") if language.lower().startswith(("ja", "zh")) else (": ", ", ")
    return (f"{group}{colon}" if group else "", comma.join(skills))


def join_languages(languages: Iterable[ResumeEntry]) -> str:
    """One line for all of them: "German: Native speaker · English: Fluent"."""
    return " · ".join(": ".join(part for part in (entry.title, entry.organization) if part) for entry in languages)


def has_cjk(text: str) -> bool:
    return CJK.search(text) is not None


def _clean(value: object) -> object:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, tuple):
        return tuple(_clean(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        shown = [name.name for name in fields(value) if name.name not in NOT_PROSE]
        return replace(value, **{name: _clean(getattr(value, name)) for name in shown})
    return value
