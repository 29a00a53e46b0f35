"""Greenhouse's public job board API."""

from decimal import Decimal
from typing import Final

from discovery.contracts import ParsedBoard, PayPeriod, Posting, Salary
from discovery.places import fill_from_offices, find_country_code, read_place
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
    read_line,
    read_moment,
    read_object,
    read_text,
    require_id,
    require_title,
    require_url,
)
from discovery.text import HTML_LIMIT, decode_once, html_to_text

KIND: Final = "greenhouse"
BASE_URL: Final = "https://boards-api.greenhouse.io"


def list_url(board: str, *, base_url: str = BASE_URL) -> str:
    return join_url(base_url, f"/v1/boards/{check_board_token(board)}/jobs?content=true")


def detail_url(board: str, external_id: str, *, base_url: str = BASE_URL) -> str:
    return join_url(base_url, f"/v1/boards/{check_board_token(board)}/jobs/{check_board_token(external_id)}")


def parse_board(payload: object, *, board: str) -> ParsedBoard:
    """Raises ``MalformedBoard``; a bad row is only skipped."""
    rows = payload.get("jobs") if isinstance(payload, dict) else None
    if not isinstance(rows, list):
        raise MalformedBoard('a Greenhouse board is an object with a list "jobs"')
    return collect_postings(rows, lambda row: _parse_row(row, board=board))


def parse_detail(payload: object, *, board: str) -> ParsedBoard:
    """One posting as its own address gives it: a board of one. Raises ``MalformedBoard``."""
    if not isinstance(payload, dict) or "id" not in payload:
        raise MalformedBoard('a Greenhouse posting is an object with an "id"')
    return collect_postings([payload], lambda row: _parse_row(row, board=board))


def _parse_row(row: Row, *, board: str) -> Posting:
    url = require_url(row, "absolute_url")
    offices = tuple(read_line(office, "name") for office in list_objects(row, "offices"))
    place = fill_from_offices(
        read_place(read_line(read_object(row, "location"), "name", limit=LOCATION_LIMIT)),
        tuple(office for office in offices if office),
    )
    departments = [name for item in list_objects(row, "departments") if (name := read_line(item, "name"))]
    return Posting(
        kind=KIND,
        board=board,
        external_id=require_id(row, "id"),
        title=require_title(row, "title"),
        company=read_line(row, "company_name") or name_company(board),
        url=url,
        apply_url=url,  # the form stands on the posting's own page
        requisition_id=read_line(row, "requisition_id"),
        location=place.location,
        places=place.places,
        country=find_country_code(place.places[0].rpartition(",")[2]) if place.places else "",
        mode=place.mode,
        remote_eligibility=place.eligibility,
        employment_type=_read_employment_type(row),
        department=departments[0] if departments else "",
        salary=_read_pay_range(row),
        posted_at=read_moment(row, "first_published"),
        updated_at=read_moment(row, "updated_at"),
        closes_at=read_moment(row, "application_deadline", is_deadline=True),
        language=read_line(row, "language", limit=20),
        description=_read_content(row),
    )


def _read_content(row: Row) -> str:
    """``content`` is HTML escaped once inside the JSON; what is escaped within it is one level deeper."""
    content = read_text(row, "content")[:HTML_LIMIT]
    return html_to_text(content if "<" in content else decode_once(content))


def _read_employment_type(row: Row) -> str:
    """An operator's own field; its name is free text."""
    for item in list_objects(row, "metadata"):
        if read_line(item, "name").casefold() in ("employment type", "time type", "job type"):
            return read_line(item, "value")
    return ""


def _read_pay_range(row: Row) -> Salary | None:
    """``pay_input_ranges``, in cents; its free title alone says the period."""
    for item in list_objects(row, "pay_input_ranges"):
        low, high = read_amount(item, "min_cents"), read_amount(item, "max_cents")
        if low is not None or high is not None:
            title = read_line(item, "title").casefold()
            period = PayPeriod.HOUR if "hour" in title else PayPeriod.YEAR if _is_yearly(title) else PayPeriod.UNKNOWN
            return Salary(
                _from_cents(low), _from_cents(high), read_line(item, "currency_type", limit=3).upper(), period
            )
    return None


def _is_yearly(title: str) -> bool:
    return any(word in title for word in ("annual", "year", "salary"))


def _from_cents(cents: Decimal | None) -> Decimal | None:
    return cents / 100 if cents is not None else None


SOURCE: Final = register_source(BoardSource(KIND, "Greenhouse", "ats", list_url, parse_board))
