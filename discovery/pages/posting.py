"""A schema.org JobPosting as page content."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from discovery.contracts import ContentTier, PageContent, WorkMode
from discovery.pages.fields import (
    iter_values,
    list_names,
    read_moment,
    read_name,
    read_place,
    read_salary,
    read_url,
)
from discovery.pages.markup import is_parsable

_ESCAPED_TAG: Final = re.compile(r"&lt;/?(?:p|br|div|span|ul|ol|li|b|strong|em|i|u|a|h[1-6]|table|section)\b", re.I)
_REAL_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_WRITTEN_BREAK: Final = re.compile(r"(?<![A-Za-z]:)\\r\\n|(?<![A-Za-z]:)\\n")  # not the one in C:\new
_REMOTE_TYPES: Final = frozenset({"TELECOMMUTE", "REMOTE"})
_MODES: Final = {
    "remote": WorkMode.REMOTE,
    "anywhere": WorkMode.REMOTE,
    "worldwide": WorkMode.REMOTE,
    "hybrid": WorkMode.HYBRID,
}


def read_posting(posting: Mapping[str, Any], *, url: str) -> PageContent:
    """What the posting says; its activity is judged elsewhere. Telecommute without a stated region is eligibility "".

    Warnings: URL_INVALID, DATE_INVALID.
    """
    warnings: list[str] = []
    mode, places = _read_places(posting)
    apply_url = _read_apply_url(posting, url=url)
    if read_name(posting.get("url")) and not read_url(posting.get("url"), base=url):
        warnings.append("URL_INVALID")
    valid_through = read_moment(posting.get("validThrough"), end_of_day=True)
    if valid_through is None and read_name(posting.get("validThrough")):
        warnings.append("DATE_INVALID")
    return PageContent(
        tier=ContentTier.JSON_LD,
        title=read_name(posting.get("title")) or read_name(posting.get("name")),
        company=read_name(posting.get("hiringOrganization")),
        description=read_description(posting.get("description")),
        apply_url=apply_url,
        location=places[0] if places else "",
        places=places,
        mode=mode,
        remote_eligibility=", ".join(list_names(posting.get("applicantLocationRequirements"))),
        employment_type=", ".join(list_names(posting.get("employmentType"))),
        salary=read_salary(posting),
        posted_at=read_moment(posting.get("datePosted")),
        valid_through=valid_through,
        warnings=tuple(warnings),
    )


def read_description(value: object) -> str:
    """Readable text. HTML that is escaped is decoded once; a written-out ``\\n`` is a line break."""
    from discovery.text import decode_once, html_to_text

    text = "\n".join(item for item in iter_values(value) if isinstance(item, str))
    if _ESCAPED_TAG.search(text) and not _REAL_TAG.search(text):
        text = decode_once(text)
    text = _WRITTEN_BREAK.sub("<br>" if _REAL_TAG.search(text) else "\n", text)
    return html_to_text(text) if is_parsable(text) else ""


def _read_places(posting: Mapping[str, Any]) -> tuple[WorkMode, tuple[str, ...]]:
    """A work mode in the place field is a mode, not a place."""
    types = {name.upper() for name in list_names(posting.get("jobLocationType"))}
    mode = WorkMode.REMOTE if types & _REMOTE_TYPES else WorkMode.UNKNOWN
    places: dict[str, None] = {}
    for item in iter_values(posting.get("jobLocation")):
        place = read_place(item)
        said = _MODES.get(place.lower())
        if said is not None:
            mode = said if mode is WorkMode.UNKNOWN else mode
        elif place:
            places[place] = None
    return mode, tuple(places)


def _read_apply_url(posting: Mapping[str, Any], *, url: str) -> str:
    """An ApplyAction's target, else the posting's own URL, else this page if it says that one applies here.

    A front page is the employer's site, given by mistake: every posting of theirs would share it.
    """
    for action in iter_values(posting.get("potentialAction")):
        if isinstance(action, dict) and action.get("@type") == "ApplyAction":
            for target in iter_values(action.get("target")):
                found = read_url(target.get("urlTemplate") if isinstance(target, dict) else target, base=url)
                if found:
                    return found
    stated = read_url(posting.get("url"), base=url)
    if stated and not _is_front_page(stated):
        return stated
    return read_url(url, base=url) if posting.get("directApply") in (True, "true", "True") else ""


def _is_front_page(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query and not parts.fragment
