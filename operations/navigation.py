"""The pages that the sidebar offers. An app adds its own with ``add_page`` when it declares itself."""

from dataclasses import dataclass
from typing import Final

from django.urls import NoReverseMatch, reverse

#: Headings of the sidebar, in order; "" stands first, without a heading.
GROUPS: Final = ("", "Work", "Sources", "Keeping it honest", "Setup")


@dataclass(frozen=True, slots=True)
class Page:
    """``key`` is the letter that opens it after ``g``; ``place`` orders it within its group."""

    label: str
    url_name: str
    group: str
    place: int
    key: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    url: str
    key: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class LinkGroup:
    heading: str
    links: list[Link]


_pages: dict[str, Page] = {}


def add_page(page: Page) -> None:
    if page.url_name in _pages:
        raise ValueError(f"page {page.url_name} is declared twice")
    if page.group not in GROUPS:
        raise ValueError(f"{page.group!r} is not a heading of the sidebar")
    if page.key and any(page.key == other.key for other in _pages.values()):
        raise ValueError(f"the key {page.key} is taken")
    _pages[page.url_name] = page


def list_links(path: str) -> list[LinkGroup]:
    """Every page whose URL exists, by group; the one that ``path`` lies in is current."""
    urls = {page: url for page in _pages.values() if (url := _find_url(page.url_name))}
    current = max((url for url in urls.values() if _contains(url, path)), key=len, default="")
    groups = []
    for heading in GROUPS:
        pages = sorted((page for page in urls if page.group == heading), key=lambda page: page.place)
        if pages:
            links = [Link(page.label, urls[page], page.key, urls[page] == current) for page in pages]
            groups.append(LinkGroup(heading, links))
    return groups


def _find_url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


def _contains(url: str, path: str) -> bool:
    return path == url if url == "/" else path.startswith(url)


for _page in (
    Page("Dashboard", "operations:dashboard", "", 10, "d"),
    Page("Jobs", "operations:jobs", "Work", 10, "j"),
    Page("Runs", "operations:runs", "Work", 40, "r"),
    Page("Spend", "operations:spend", "Keeping it honest", 10, "m"),
    Page("Activity", "operations:activity", "Keeping it honest", 30, "a"),
    Page("Profile", "discovery:profile", "Setup", 10, "p"),
    Page("Settings", "operations:settings", "Setup", 20, "s"),
    Page("Admin", "admin:index", "Setup", 30),
):
    add_page(_page)
