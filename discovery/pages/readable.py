"""The readable text of any page."""

import re
from typing import Final

from discovery.contracts import ContentTier, PageContent

_WALL_TITLE: Final = re.compile(
    r"just a moment|attention required|access denied|access to this page has been denied|are you (?:a robot|human)|"
    r"security check|verify you are|robot check|(?:sign|log) ?in(?: or .*| to .*| \|.*)?$|login$|forbidden$",
    re.I,
)
_MISSING_TITLE: Final = re.compile(
    r"error 404\b|404\b(?!\s+media\b)|"
    r"(?:page|job|position|posting|vacancy) (?:was )?not found|not found$|"
    r"(?:this|the) page (?:does not|doesn't|no longer) exists?|page (?:unavailable|does not exist)",
    re.I,
)
_WALL_TEXT: Final = 600  # characters below which a page with such a title is nothing but the wall
_NEEDS_BROWSER: Final = re.compile(
    r"(?:enable|requires?|turn on|activate) javascript|javascript is (?:disabled|required)", re.I
)
_SHELL_TEXT: Final = 300


def read_readable(html: str, *, url: str) -> PageContent:
    """Title and text; company and place are not guessed from prose."""
    return PageContent(ContentTier.READABLE_TEXT, title=_read_title(html), description=_read_text(html, url=url))


def find_wall(content: PageContent) -> str:
    """ACCESS_WALL, NOT_FOUND or NEEDS_BROWSER where the text is not the posting's but stands in its place, else ""."""
    length = len(content.description)
    if length < _WALL_TEXT and _WALL_TITLE.match(content.title):
        return "ACCESS_WALL"
    if length < _WALL_TEXT and _MISSING_TITLE.match(content.title):
        return "NOT_FOUND"
    return "NEEDS_BROWSER" if length < _SHELL_TEXT and _NEEDS_BROWSER.search(content.description) else ""


def _read_title(html: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    from discovery.text import clean_line

    tree = LexborHTMLParser(html)
    heading = tree.css_first("h1")
    if heading is not None and clean_line(heading.text(separator=" ")):
        return clean_line(heading.text(separator=" "))
    shared = tree.css_first("meta[property='og:title']")
    if shared is not None and clean_line(shared.attributes.get("content") or ""):
        return clean_line(shared.attributes.get("content") or "")
    title = tree.css_first("title")
    return clean_line(title.text()) if title is not None else ""


def _read_text(html: str, *, url: str) -> str:
    """trafilatura first; short pages that it finds no article in are read whole."""
    import trafilatura

    from discovery.text import HTML_LIMIT, clean_text, html_to_text

    try:
        text = trafilatura.extract(
            html[:HTML_LIMIT], url=url, include_comments=False, include_tables=True, favor_recall=True
        )
    except Exception:  # third-party heuristics over hostile markup: whatever they raise, the page has no article
        text = None
    return clean_text(text) if text else html_to_text(html)
