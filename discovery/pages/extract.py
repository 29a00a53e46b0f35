"""One posting page: structured data first, then known layouts, then whatever reads as text."""

from dataclasses import replace
from datetime import datetime

from discovery.contracts import ActiveState, ContentTier, PageContent
from discovery.pages.jsonld import find_job_posting
from discovery.pages.layouts import read_layout
from discovery.pages.markup import is_parsable
from discovery.pages.notices import find_closing_notice
from discovery.pages.posting import read_posting
from discovery.pages.readable import find_wall, read_readable


def extract_page(html: str, *, url: str, now: datetime) -> PageContent:
    """Never raises for what a page holds. ``now`` is aware; ``url`` is where the page was found.

    Evidence: VALID_THROUGH_PAST, or the code of the closing notice, when closed; ACCESS_WALL, NOT_FOUND,
    NEEDS_BROWSER, NO_CONTENT or MARKUP_REFUSED when unknown.
    """
    html = html.replace("\x00", "").encode("utf-8", "ignore").decode()
    if not is_parsable(html):
        return PageContent(ContentTier.READABLE_TEXT, active=ActiveState.UNKNOWN, evidence="MARKUP_REFUSED")
    posting = find_job_posting(html, url=url)
    if posting is not None:
        content = _fill_description(read_posting(posting, url=url), html, url=url)
    else:
        content = read_layout(html, url=url) or read_readable(html, url=url)
    return _judge_activity(content, html, now=now)


def _fill_description(content: PageContent, html: str, *, url: str) -> PageContent:
    """Structured data without a description borrows the page's text, and its lower trust with it."""
    if content.description:
        return content
    warnings = (*content.warnings, "DESCRIPTION_MISSING")
    page = read_layout(html, url=url) or read_readable(html, url=url)
    if not page.description:
        return replace(content, warnings=warnings)
    return replace(
        content,
        tier=page.tier,
        description=page.description,
        apply_url=content.apply_url or page.apply_url,
        warnings=warnings,
    )


def _judge_activity(content: PageContent, html: str, *, now: datetime) -> PageContent:
    if content.valid_through is not None and content.valid_through < now:
        return replace(content, active=ActiveState.CLOSED, evidence="VALID_THROUGH_PAST")
    notice = find_closing_notice(html)
    if notice:
        return replace(content, active=ActiveState.CLOSED, evidence=notice)
    if content.tier is ContentTier.READABLE_TEXT:
        unknown = find_wall(content) or ("" if content.description else "NO_CONTENT")
        if unknown:
            return replace(content, active=ActiveState.UNKNOWN, evidence=unknown)
    return replace(content, active=ActiveState.ACTIVE)
