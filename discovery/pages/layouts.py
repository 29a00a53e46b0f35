"""Pages without structured data whose layout is known."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from discovery.contracts import ContentTier, PageContent
from discovery.pages.fields import read_url

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


@dataclass(frozen=True, slots=True)
class Layout:
    """CSS selectors of one kind of page. Only a page with title and description is taken for one."""

    title: str
    company: str
    location: str
    description: str
    apply_link: str = ""
    salary: str = ""


LAYOUTS: Final = (
    Layout(  # LinkedIn's guest page
        title=".top-card-layout__title",
        company=".topcard__org-name-link, .topcard__flavor",
        location=".topcard__flavor--bullet",
        description=".description__text .show-more-less-html__markup, .description__text",
    ),
    Layout(  # jobs.cz
        title="h1",
        company=".IconWithText > p",
        location="[data-test=jd-info-location]",
        description="[data-jobad=body]",
        apply_link="[data-test=jd-reply-button-top]",
        salary="[data-test=jd-salary] > p",
    ),
)


def read_layout(html: str, *, url: str) -> PageContent | None:
    """None where no layout fits."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    for layout in LAYOUTS:
        content = _read_with(tree, layout, url=url)
        if content is not None:
            return content
    return None


def _read_with(tree: "LexborHTMLParser", layout: Layout, *, url: str) -> PageContent | None:
    from discovery.salary import parse_salary
    from discovery.text import html_to_text

    title = _read_line(tree, layout.title)
    found = _find_first(tree, layout.description)
    description = html_to_text(found.html or "") if found is not None else ""
    if not title or not description:
        return None
    location = _read_line(tree, layout.location)
    link = _find_first(tree, layout.apply_link) if layout.apply_link else None
    return PageContent(
        tier=ContentTier.SELECTORS,
        title=title,
        company=_read_line(tree, layout.company),
        description=description,
        apply_url=read_url(link.attributes.get("href"), base=url) if link is not None else "",
        location=location,
        places=(location,) if location else (),
        salary=parse_salary(_read_line(tree, layout.salary)) if layout.salary else None,
    )


def _find_first(tree: "LexborHTMLParser", selectors: str) -> "LexborNode | None":
    """By the order of the selectors, not of the page."""
    for selector in selectors.split(", "):
        node = tree.css_first(selector)
        if node is not None:
            return node
    return None


def _read_line(tree: "LexborHTMLParser", selectors: str) -> str:
    from discovery.text import clean_line, html_to_text

    node = _find_first(tree, selectors)
    return clean_line(html_to_text(node.html or "")) if node is not None else ""
