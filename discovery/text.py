"""Readable plain text out of what boards and pages send."""

import html
import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

HTML_LIMIT: Final = 2 * 1024 * 1024  # characters read of one document

_HIDDEN: Final = frozenset(
    {"script", "style", "head", "noscript", "template", "iframe", "object", "svg", "math", "select", "textarea"}
)
_PARAGRAPHS: Final = frozenset(
    {
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "dl",
        "table",
        "blockquote",
        "pre",
        "section",
        "article",
        "hr",
    }
)
_LINES: Final = frozenset(
    {"div", "tr", "dt", "dd", "header", "footer", "main", "aside", "nav", "figure", "figcaption", "address", "form"}
)
_MAX_DEPTH: Final = 400  # of open elements; the parser's time grows with the square of it
_ITEM_OPEN, _ITEM_CLOSE = "\x02", "\x03"

# Control characters, zero-width and direction marks, soft hyphens and lone surrogates: nothing that a reader
# sees, and the last two break a database or an encoder. Tab and newline are dealt with as white space.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufff9-\ufffb]"
)
_BLANKS: Final = re.compile(r"[^\S\n]+")
_LINE_ENDS: Final = re.compile("\r\n?|[\u2028\u2029\x85]")
_GAPS: Final = re.compile(r"\n{3,}")
_EDGES: Final = re.compile(r" ?\n ?")
_RAW_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_ESCAPED_START: Final = re.compile(r"\s*&lt;[a-zA-Z!]")
_TAG_NAME: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr", "col", "source", "area", "embed"})
_EMPTY_ITEM: Final = re.compile(f"{_ITEM_OPEN}\\s*{_ITEM_CLOSE}")
_ITEM_START: Final = re.compile(f"{_ITEM_OPEN}\\s*")
_BEFORE_ITEM: Final = re.compile(r"(?m)^(- .*)\n\n(?=- )")


def decode_once(text: str) -> str:
    """Character references decoded one time: ``&amp;gt;`` becomes ``&gt;``, never ``>``."""
    return html.unescape(text)


def clean_line(text: str) -> str:
    """One line for a title or a company: references decoded once, white space folded, unseen characters gone."""
    return " ".join(_UNSEEN.sub("", decode_once(text)).split())


def clean_text(text: str) -> str:
    """Plain text of several lines: white space folded within lines, at most one blank line in a row."""
    return _fold_space(_UNSEEN.sub("", _LINE_ENDS.sub("\n", text[:HTML_LIMIT]))).strip()


def html_to_text(document: str) -> str:
    """What a reader sees of the HTML: paragraphs on lines, list items led by "- ".

    A document that is escaped as a whole (``&lt;p&gt;..``) is unescaped first; otherwise references are
    decoded exactly once. Reads at most ``HTML_LIMIT`` characters.
    """
    document = document[:HTML_LIMIT]
    if is_escaped_html(document):
        document = decode_once(document)
    if "<" not in document:
        return clean_text(decode_once(document))
    document = _UNSEEN.sub("", document)  # a NUL would end the parser's input early, a surrogate stop its encoder
    if _is_too_deep(document):
        return clean_text(decode_once(_RAW_TAG.sub("\n", document)))
    root = LexborHTMLParser(document).body
    return _join_parts(_collect_parts(root)) if root is not None else ""


def is_escaped_html(document: str) -> bool:
    """It starts with an escaped tag and holds no real one."""
    return _ESCAPED_START.match(document) is not None and _RAW_TAG.search(document) is None


def _is_too_deep(document: str) -> bool:
    """More elements open at once than any posting has. An end tag counts only against its own name."""
    if document.count("<") <= _MAX_DEPTH:
        return False
    opened: dict[str, int] = {}
    depth = 0
    for slash, written in _TAG_NAME.findall(document):
        name = written.lower()
        if name in _VOID:
            continue
        if not slash:
            opened[name] = opened.get(name, 0) + 1
            depth += 1
        elif opened.get(name):
            opened[name] -= 1
            depth -= 1
        if depth > _MAX_DEPTH:
            return True
    return False


def _fold_space(text: str) -> str:
    return _GAPS.sub("\n\n", _EDGES.sub("\n", _BLANKS.sub(" ", text)))


def _join_parts(parts: list[str]) -> str:
    # Runs of white space are folded first: the patterns below look ahead over them.
    text = _EMPTY_ITEM.sub("\n", _fold_space("".join(parts)))
    text = clean_text(_ITEM_START.sub("\n- ", text).replace(_ITEM_CLOSE, "\n"))
    return _BEFORE_ITEM.sub(r"\1\n", text)


def _collect_parts(root: LexborNode) -> list[str]:
    """Depth first without recursion."""
    parts: list[str] = []
    pending: list[tuple[LexborNode | None, str]] = [(root, "")]
    while pending:
        node, closing = pending.pop()
        if node is None:
            parts.append(closing)
            continue
        tag = node.tag
        if tag == "-text":
            text = node.text(deep=False) or ""
            # References such as &#2; come out of the parser only now. Raw line ends are white space.
            text = _UNSEEN.sub("", text)
            parts.append(text if closing == "pre" else text.replace("\r", " ").replace("\n", " "))
            continue
        if tag is None or tag in _HIDDEN or tag.startswith(("-", "!")):
            continue
        opened, closed = _frame_tag(tag)
        parts.append(opened)
        pending.append((None, closed))
        inherited = "pre" if tag == "pre" or closing == "pre" else ""
        pending.extend((child, inherited) for child in reversed(_list_children(node)))
    return parts


def _list_children(node: LexborNode) -> list[LexborNode]:
    children: list[LexborNode] = []
    child = node.child
    while child is not None:
        children.append(child)
        child = child.next
    return children


def _frame_tag(tag: str) -> tuple[str, str]:
    """What to write where the element opens and where it closes."""
    if tag == "br":
        return "\n", ""
    if tag == "li":
        return _ITEM_OPEN, _ITEM_CLOSE
    if tag in _PARAGRAPHS:
        return "\n\n", "\n\n"
    if tag in _LINES:
        return "\n", "\n"
    return ("", " ") if tag in ("td", "th") else ("", "")
