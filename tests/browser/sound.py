"""What must hold of every page: nothing serious for axe, strict HTML, no sideways scrolling, nothing inline."""

import re
from collections.abc import Sequence
from typing import Any

import html5lib  # type: ignore[import-untyped]
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from html5lib.html5parser import ParseError  # type: ignore[import-untyped]
from playwright.sync_api import Page, ViewportSize

WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
GRAVE = ("serious", "critical")
COLOURS = ("color-contrast", "link-in-text-block")
#: Of long lists in the admin the first are enough: axe takes seconds for hundreds of rows that are all alike.
ALIKE = [
    ["#result_list tbody tr:nth-child(n + 6)"],
    ["#changelist-filter li:nth-child(n + 6)"],
    ["#nav-sidebar .module:nth-child(n + 3)"],
]
INLINE = re.compile(r"<style|\sstyle=|\son[a-z]+=\"|<script(?![^>]*\ssrc=)", re.IGNORECASE)
#: Whether nothing moves any more: a transition is brought to its end, and may start another.
AT_REST = """() => {
    const moving = document.getAnimations().filter(
        (each) => each.playState === "running" && each.effect.getTiming().iterations !== Infinity
    );
    for (const each of moving) each.finish();
    return !moving.length;
}"""


def inspect(page: Page, source: str, *, narrow: bool = True) -> list[str]:
    """Every fault of the page that lies open, in both widths and both themes; ``source`` is the HTML it came as.

    Wide and light, then narrow and dark, with every rule; wide and dark with those that a theme alone changes. Without
    ``narrow``, for pages that one template makes, a narrow one is only measured.
    """
    begin_wide(page)
    faults = [*list_grave_findings(page), measure_overflow(page)]
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    faults += list_grave_findings(page, rules=COLOURS)
    page.set_viewport_size(NARROW)
    faults += [*(list_grave_findings(page) if narrow else []), measure_overflow(page)]
    faults += [f"{page.url}: {error}" for error in list_markup_errors(source)]
    return [fault for fault in faults if fault]


def begin_wide(page: Page) -> None:
    """Wide and light. Before a page is opened: to change it afterwards takes longer."""
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")


def list_grave_findings(page: Page, *, rules: Sequence[str] = ()) -> list[str]:
    """Serious and critical findings of axe, each with where it was found; of some rules or of all."""
    page.wait_for_function(AT_REST)
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(Axe().axe_script)
    # It would fetch style sheets anew and put them inline, which the content policy refuses aloud.
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found: list[dict[str, Any]] = page.evaluate(
        "async ([exclude, options]) => (await axe.run({ include: [[':root']], exclude }, options)).violations",
        [ALIKE, options],
    )
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
