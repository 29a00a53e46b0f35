"""Reading one row of a board, which may hold any JSON anywhere. What cannot be a posting raises ``RowFault``."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, time
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Final

from discovery.contracts import ParsedBoard, Posting, SkippedPosting
from discovery.identity import URL_LIMIT, normalise_url
from discovery.text import clean_line

ID_LIMIT: Final = 200
TITLE_LIMIT: Final = 300
LINE_LIMIT: Final = 300  # companies, departments and other short lines; what is longer is cut
LOCATION_LIMIT: Final = 1_000
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_AMOUNT_LIMIT: Final = Decimal(10) ** 10


class SkipReason(StrEnum):
    NOT_AN_OBJECT = "not_an_object"
    MISSING_ID = "missing_id"
    MISSING_TITLE = "missing_title"
    MISSING_URL = "missing_url"
    BAD_URL = "bad_url"
    OVER_LONG = "over_long"
    UNLISTED = "unlisted"
    REPEATED_ID = "repeated_id"


class RowFault(Exception):
    """This row cannot become a posting."""

    def __init__(self, reason: SkipReason, field: str = "") -> None:
        super().__init__(f"{reason}: {field}" if field else str(reason))
        self.reason = reason
        self.field = field


Row = Mapping[str, object]


def collect_postings(rows: Iterable[object], parse_row: Callable[[Row], Posting]) -> ParsedBoard:
    """Every row becomes a posting or a counted skip. Of rows with one id the first is kept."""
    postings: dict[str, Posting] = {}
    skipped: list[SkippedPosting] = []
    for row in rows:
        try:
            if not isinstance(row, dict):
                raise RowFault(SkipReason.NOT_AN_OBJECT)
            posting = parse_row(row)
            if posting.external_id in postings:
                raise RowFault(SkipReason.REPEATED_ID, "id")
        except RowFault as fault:
            skipped.append(SkippedPosting(fault.reason.value, fault.field))
        else:
            postings[posting.external_id] = posting
    return ParsedBoard(tuple(postings.values()), tuple(skipped))


def require_id(row: Row, field: str) -> str:
    value = row.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > 128:
            raise RowFault(SkipReason.OVER_LONG, field)
        return str(value)
    text = clean_line(value[: ID_LIMIT * 10]) if isinstance(value, str) else ""
    if not text:
        raise RowFault(SkipReason.MISSING_ID, field)
    if len(text) > ID_LIMIT:
        raise RowFault(SkipReason.OVER_LONG, field)
    return text


def require_title(row: Row, field: str) -> str:
    value = row.get(field)
    title = clean_line(value[: TITLE_LIMIT * 10]) if isinstance(value, str) else ""
    if not title:
        raise RowFault(SkipReason.MISSING_TITLE, field)
    if len(title) > TITLE_LIMIT:
        raise RowFault(SkipReason.OVER_LONG, field)
    return title


def require_url(row: Row, field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value.strip():
        raise RowFault(SkipReason.MISSING_URL, field)
    if len(value) > URL_LIMIT:
        raise RowFault(SkipReason.OVER_LONG, field)
    if not _is_web_address(value):
        raise RowFault(SkipReason.BAD_URL, field)
    return value.strip()


def read_url(row: Row, field: str) -> str:
    """An address that a posting may do without: "" where it is absent or not usable."""
    value = row.get(field)
    return value.strip() if isinstance(value, str) and _is_web_address(value) else ""


def read_line(row: Row, field: str, *, limit: int = LINE_LIMIT) -> str:
    value = row.get(field)
    return clean_line(value[: limit * 10])[:limit].rstrip() if isinstance(value, str) else ""


def read_text(row: Row, field: str) -> str:
    value = row.get(field)
    return value if isinstance(value, str) else ""


def read_object(row: Row, field: str) -> Row:
    value = row.get(field)
    return value if isinstance(value, dict) else {}


def list_objects(row: Row, field: str) -> list[Row]:
    value = row.get(field)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def read_moment(row: Row, field: str, *, is_deadline: bool = False) -> datetime | None:
    """An ISO 8601 time as aware UTC; without an offset it is taken as UTC. A deadline's bare date ends with its day."""
    value = row.get(field)
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        if is_deadline and len(value.strip()) == 10:
            moment = datetime.combine(moment.date(), time(23, 59, 59))
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if _EARLIEST <= moment < _LATEST else None


def read_epoch_ms(row: Row, field: str) -> datetime | None:
    value = row.get(field)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if not _EARLIEST.timestamp() <= value // 1000 < _LATEST.timestamp():
        return None
    return datetime.fromtimestamp(value // 1000, UTC).replace(microsecond=value % 1000 * 1000)


def read_amount(row: Row, field: str) -> Decimal | None:
    """A positive amount of money; numbers and digits in a string are both met."""
    value = row.get(field)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | str)
        or (isinstance(value, str) and len(value) > 30)
    ):
        return None
    if isinstance(value, int) and value.bit_length() > 64:
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 < amount < _AMOUNT_LIMIT else None


def _is_web_address(value: str) -> bool:
    try:
        normalise_url(value)
    except ValueError:
        return False
    return True
