"""Lever's public postings API."""

from typing import Final

from discovery.contracts import ParsedBoard, PayPeriod, Posting, Salary, WorkMode
from discovery.places import is_region, read_place, read_workplace
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
    collect_postings,
    list_objects,
    read_amount,
    read_epoch_ms,
    read_line,
    read_object,
    read_text,
    read_url,
    require_id,
    require_title,
    require_url,
)
from discovery.text import clean_line, clean_text, html_to_text

KIND: Final = "lever"
BASE_URL: Final = "https://api.lever.co"
_PERIODS: Final = {
    f"per-{period}": period
    for period in (PayPeriod.YEAR, PayPeriod.MONTH, PayPeriod.WEEK, PayPeriod.DAY, PayPeriod.HOUR)
}


def list_url(board: str, *, base_url: str = BASE_URL) -> str:
    return join_url(base_url, f"/v0/postings/{check_board_token(board)}?mode=json")


def parse_board(payload: object, *, board: str) -> ParsedBoard:
    """Raises ``MalformedBoard``; a bad row is only skipped."""
    if not isinstance(payload, list):
        raise MalformedBoard("a Lever board is a bare list of postings")
    return collect_postings(payload, lambda row: _parse_row(row, board=board))


def _parse_row(row: Row, *, board: str) -> Posting:
    categories = read_object(row, "categories")
    place = read_place(" | ".join(_list_locations(categories)))
    mode = read_workplace(read_line(row, "workplaceType"))
    mode = place.mode if mode is WorkMode.UNKNOWN else mode
    eligibility = place.eligibility
    if mode is WorkMode.REMOTE and not eligibility and is_region(place.location):
        eligibility = place.location
    country = read_line(row, "country", limit=20)
    return Posting(
        kind=KIND,
        board=board,
        external_id=require_id(row, "id"),
        title=require_title(row, "text"),
        company=name_company(board),
        url=require_url(row, "hostedUrl"),
        apply_url=read_url(row, "applyUrl"),
        requisition_id=read_line(row, "reqCode"),
        location=place.location,
        places=place.places,
        country=country.upper() if len(country) == 2 and country.isalpha() and country.isascii() else "",
        mode=mode,
        remote_eligibility=eligibility,
        employment_type=read_line(categories, "commitment"),
        department=read_line(categories, "department") or read_line(categories, "team"),
        salary=_read_salary_range(row),
        posted_at=read_epoch_ms(row, "createdAt"),
        description=_read_description(row),
    )


def _list_locations(categories: Row) -> list[str]:
    """``location`` leads; ``allLocations`` repeats it and adds the others."""
    named = [read_line(categories, "location", limit=LOCATION_LIMIT)]
    others = categories.get("allLocations")
    if isinstance(others, list):
        named.extend(clean_line(item[:LOCATION_LIMIT]) for item in others[:50] if isinstance(item, str))
    return list(dict.fromkeys(name for name in named if name))


def _read_description(row: Row) -> str:
    """The opening, then each list under its heading, then the closing part."""
    parts = [_read_plain(row, "descriptionPlain", "description")]
    for item in list_objects(row, "lists"):
        content = html_to_text(f"<ul>{read_text(item, 'content')}</ul>")
        parts.append("\n".join(part for part in (read_line(item, "text"), content) if part))
    parts.append(_read_plain(row, "additionalPlain", "additional"))
    return "\n\n".join(part for part in parts if part)


def _read_plain(row: Row, plain: str, markup: str) -> str:
    return clean_text(read_text(row, plain)) or html_to_text(read_text(row, markup))


def _read_salary_range(row: Row) -> Salary | None:
    """``salaryRange``: amounts with an interval such as ``per-year-salary`` or ``per-hour-wage``."""
    stated = read_object(row, "salaryRange")
    low, high = read_amount(stated, "min"), read_amount(stated, "max")
    if low is None and high is None:
        return None
    interval = read_line(stated, "interval").casefold()
    period = next((known for start, known in _PERIODS.items() if interval.startswith(start)), PayPeriod.UNKNOWN)
    return Salary(low, high, read_line(stated, "currency", limit=3).upper(), period)


SOURCE: Final = register_source(BoardSource(KIND, "Lever", "ats", list_url, parse_board))
