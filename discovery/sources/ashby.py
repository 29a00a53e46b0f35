"""Ashby's public job board API."""

from typing import Final

from discovery.contracts import ParsedBoard, PayPeriod, Posting, Salary, WorkMode
from discovery.places import PlaceReading, find_country_code, is_region, read_place, read_workplace
from discovery.salary import parse_salary
from discovery.sources.base import (
    BoardSource,
    MalformedBoard,
    check_board_token,
    join_url,
    name_company,
    register_source,
)
from discovery.sources.rows import (
    LOCATION_LIMIT,
    Row,
    RowFault,
    SkipReason,
    collect_postings,
    list_objects,
    read_amount,
    read_line,
    read_moment,
    read_object,
    read_text,
    read_url,
    require_id,
    require_title,
    require_url,
)
from discovery.text import clean_text, html_to_text

KIND: Final = "ashby"
BASE_URL: Final = "https://api.ashbyhq.com"
_INTERVALS: Final = {
    "1 YEAR": PayPeriod.YEAR,
    "1 MONTH": PayPeriod.MONTH,
    "1 WEEK": PayPeriod.WEEK,
    "1 DAY": PayPeriod.DAY,
    "1 HOUR": PayPeriod.HOUR,
}


def list_url(board: str, *, base_url: str = BASE_URL) -> str:
    return join_url(base_url, f"/posting-api/job-board/{check_board_token(board)}?includeCompensation=true")


def parse_board(payload: object, *, board: str) -> ParsedBoard:
    """Raises ``MalformedBoard``; a bad row is only skipped."""
    rows = payload.get("jobs") if isinstance(payload, dict) else None
    if not isinstance(rows, list):
        raise MalformedBoard('an Ashby board is an object with a list "jobs"')
    return collect_postings(rows, lambda row: _parse_row(row, board=board))


def _parse_row(row: Row, *, board: str) -> Posting:
    if row.get("isListed") is False:
        raise RowFault(SkipReason.UNLISTED, "isListed")
    place = _read_places(row)
    mode = _read_mode(row, place)
    eligibility = place.eligibility
    if mode is WorkMode.REMOTE and not eligibility and is_region(place.location):
        eligibility = place.location
    address = read_object(read_object(row, "address"), "postalAddress")
    return Posting(
        kind=KIND,
        board=board,
        external_id=require_id(row, "id"),
        title=require_title(row, "title"),
        company=name_company(board),
        url=require_url(row, "jobUrl"),
        apply_url=read_url(row, "applyUrl"),
        location=place.location,
        places=place.places,
        country=_read_country(read_line(address, "addressCountry")),
        mode=mode,
        remote_eligibility=eligibility,
        employment_type=read_line(row, "employmentType"),
        department=read_line(row, "department") or read_line(row, "team"),
        salary=_read_compensation(row),
        posted_at=read_moment(row, "publishedAt"),
        updated_at=read_moment(row, "updatedAt"),
        description=clean_text(read_text(row, "descriptionPlain")) or html_to_text(read_text(row, "descriptionHtml")),
    )


def _read_places(row: Row) -> PlaceReading:
    """``location`` is the place shown; ``secondaryLocations`` only add to the places named."""
    first = read_place(read_line(row, "location", limit=LOCATION_LIMIT))
    others = [read_place(read_line(item, "location")) for item in list_objects(row, "secondaryLocations")[:50]]
    places = dict.fromkeys(first.places)
    places.update(dict.fromkeys(place for other in others for place in other.places))
    eligible = dict.fromkeys(reading.eligibility for reading in (first, *others) if reading.eligibility)
    return PlaceReading(first.location, tuple(places), first.mode, ", ".join(eligible))


def _read_country(stated: str) -> str:
    """The field holds a country's name or its code."""
    return stated.upper() if len(stated) == 2 and stated.isalpha() and stated.isascii() else find_country_code(stated)


def _read_mode(row: Row, place: PlaceReading) -> WorkMode:
    """``isRemote`` is true for hybrid postings too, so it speaks last."""
    stated = read_workplace(read_line(row, "workplaceType"))
    if stated is not WorkMode.UNKNOWN:
        return stated
    if place.mode is WorkMode.UNKNOWN and row.get("isRemote") is True:
        return WorkMode.REMOTE
    return place.mode


def _read_compensation(row: Row) -> Salary | None:
    compensation = read_object(row, "compensation")
    for component in list_objects(compensation, "summaryComponents"):
        if component.get("compensationType") != "Salary":
            continue
        low, high = read_amount(component, "minValue"), read_amount(component, "maxValue")
        if low is not None or high is not None:
            period = _INTERVALS.get(read_line(component, "interval"), PayPeriod.UNKNOWN)
            return Salary(low, high, read_line(component, "currencyCode", limit=3).upper(), period)
    return parse_salary(read_line(compensation, "scrapeableCompensationSalarySummary"))


SOURCE: Final = register_source(BoardSource(KIND, "Ashby", "ats", list_url, parse_board))
