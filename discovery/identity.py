"""Keys by which two postings are compared. A URL is a locator, never an identity."""

import hashlib
import re
import unicodedata
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

URL_LIMIT: Final = 2_000
_TRACKING: Final = frozenset(
    {
        "gh_src",
        "ref",
        "source",
        "src",
        "fbclid",
        "gclid",
        "msclkid",
        "mc_cid",
        "mc_eid",
        "trk",
        "lever-source",
        "lever-origin",
    }
)
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\]")
_PORTS: Final = {"http": 80, "https": 443}
_LEGAL_FORMS: Final = frozenset(
    {
        "inc", "incorporated", "llc", "llp", "ltd", "limited", "gmbh", "ag", "kg", "ug", "se", "plc", "corp",
        "corporation", "co", "company", "sa", "sas", "sarl", "srl", "spa", "bv", "nv", "ab", "oy", "oyj", "as", "aps",
        "sro", "spzoo", "pty", "kk", "pte", "pvt", "株式会社", "有限会社", "合同会社", "ооо", "ао", "пао",
    }
)  # fmt: skip
_LEGAL_PREFIXES: Final = ("株式会社", "有限会社", "合同会社")
_SINGLE_LETTERS: Final = re.compile(r"(?<![^\W_])([^\W\d_])\.\s?(?=[^\W\d_](?:\.|\b))")
_SP_Z_OO: Final = re.compile(r"\bsp\.?\s*z\s*\.?o\.?\s?o\b\.?")


def normalise_url(url: str) -> str:
    """One spelling of a locator, for comparing: tracking parameters and fragment gone, query sorted.

    Raises ``ValueError`` with the reason for anything but a plain http(s) address.
    """
    url = url.strip()
    if len(url) > URL_LIMIT:
        raise ValueError("the address is too long")
    if _UNSAFE.search(url):
        raise ValueError("the address holds control characters or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("the address cannot be read") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise ValueError("the address is not http or https")
    if "@" in parts.netloc:
        raise ValueError("the address carries a user name")
    host = _normalise_host(parts.hostname or "")
    netloc = host if port is None or port == _PORTS[scheme] else f"{host}:{port}"
    path = quote(parts.path, safe="/%:@!$&'()*+,;=~-._") or "/"
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = sorted((key, value) for key, value in pairs if not _is_tracking(key))
    return urlunsplit((scheme, netloc, path, urlencode(kept), ""))


def company_key(name: str) -> str:
    """Comparable form of a company's name in any script. "" matches nothing, see ``is_same_key``."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    folded = _SP_Z_OO.sub(" spzoo ", folded)
    folded = _SINGLE_LETTERS.sub(r"\1", folded)
    words = fold_words(folded)
    core = [_strip_prefix(word) for word in words]
    while len(core) > 1 and core[-1] in _LEGAL_FORMS:
        core.pop()
    while len(core) > 1 and core[0] in _LEGAL_FORMS - {"as", "se", "co", "company"}:
        core.pop(0)
    return " ".join(core)


def title_key(title: str) -> str:
    """Comparable form of a job title; ``C++``, ``C#`` and ``C`` stay apart."""
    folded = unicodedata.normalize("NFKC", title).casefold()
    folded = re.sub(r"(?<=\w)\+\+", "plusplus", re.sub(r"(?<=\w)#", "sharp", folded))
    return " ".join(fold_words(folded))


def is_same_key(one: str, other: str) -> bool:
    """Whether two keys name the same thing. An empty key never matches, not even another empty one."""
    return one != "" and one == other


def description_hash(text: str) -> str:
    """SHA-256, in hex, of the text's words; "" where it has none, so that empty texts are never equal."""
    words = fold_words(text)
    return hashlib.sha256(" ".join(words).encode()).hexdigest() if words else ""


def token_jaccard(one: str, other: str) -> float:
    """Share of the distinct words that two texts have in common, 0.0 to 1.0; 0.0 where either has none."""
    left, right = _list_tokens(one), _list_tokens(other)
    if not left or not right:
        return 0.0
    return len(left & right) / len(left | right)


def fold_words(text: str) -> list[str]:
    """Words as NFKC, casefolded letters, digits and combining marks of every script."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_WORD_CHARACTERS).split()


class _WordCharacters(dict[int, int]):
    """Translation table filled as characters turn up: word characters stay, all others become a space."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        is_kept = character.isalnum() or unicodedata.category(character).startswith("M")
        self[code] = code if is_kept else ord(" ")
        return self[code]


_WORD_CHARACTERS: Final = _WordCharacters()


def _list_tokens(text: str) -> set[str]:
    """Words; runs of a script that puts no spaces between words count as pairs of characters."""
    tokens: set[str] = set()
    for word in fold_words(text):
        if len(word) > 2 and any("\u3040" <= character <= "\u9fff" for character in word):
            tokens.update(word[index : index + 2] for index in range(len(word) - 1))
        else:
            tokens.add(word)
    return tokens


def _strip_prefix(word: str) -> str:
    for form in _LEGAL_PREFIXES:
        stripped = word.removeprefix(form).removesuffix(form)
        if stripped:
            word = stripped
    return word


def _is_tracking(key: str) -> bool:
    key = key.lower()
    return key.startswith("utm_") or key in _TRACKING or key.startswith("lever-source")


def _normalise_host(host: str) -> str:
    if not host:
        raise ValueError("the address has no host")
    if ":" in host:
        return f"[{host}]"
    try:
        ascii_host = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        raise ValueError("the address has no valid host") from None
    if not re.fullmatch(r"[a-z0-9_](?:[a-z0-9._-]{0,252})", ascii_host.lower()):
        raise ValueError("the address has no valid host")
    return ascii_host.lower().rstrip(".")
