"""What must hold of every page: nothing serious for axe, strict HTML, no sideways scrolling, nothing inline."""

import re
from typing import Any

import html5lib  # type: ignore[import-untyped]
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from html5lib.html5parser import ParseError  # type: ignore[import-untyped]
from playwright.sync_api import Page

GRAVE = ("serious", "critical")
INLINE = re.compile(r"<style|\sstyle=|\son[a-z]+=\"|<script(?![^>]*\ssrc=)", re.IGNORECASE)


def list_grave_findings(page: Page) -> list[str]:
    """Serious and critical findings of axe, each with where it was found."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        f"{page.url} {finding['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for finding in found
        if finding["impact"] in GRAVE
        for node in finding["nodes"][:3]
    ]


def list_markup_errors(html: str) -> list[str]:
    """What a strict HTML5 parser refuses, and what the content policy would."""
    inline = [html[max(0, at.start() - 40) : at.end() + 60] for at in INLINE.finditer(html)]
    try:
        html5lib.HTMLParser(strict=True).parse(html)
    except ParseError as error:
        return [f"{error}", *inline]
    return inline


def measure_overflow(page: Page) -> str:
    """ "" or what sticks out to the right of the window."""
    found: str = page.evaluate(
        """() => {
            const width = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= width) return "";
            const wide = [...document.querySelectorAll("body *")].filter((node) => node.getBoundingClientRect().right > width + 1);
            return `${location.pathname}: ${document.documentElement.scrollWidth} px, ` + wide.slice(0, 5).map((node) => node.outerHTML.slice(0, 90)).join(" | ");
        }"""
    )
    return found
