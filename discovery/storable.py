"""What of a posting the tables can hold: its texts cut to their columns, its figures and times in range. Pure."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from discovery.contracts import PageContent, Posting, Salary
from discovery.identity import URL_LIMIT
from discovery.sources.rows import RowFault, SkipReason

EXTERNAL_ID_LIMIT: Final = 120
DESCRIPTION_LIMIT: Final = 200_000  # characters; what is longer is no posting, and every later stage reads all of it
PLACES_LIMIT: Final = 100
LINE_LIMIT: Final = 200
_AMOUNT_LIMIT: Final = Decimal(10) ** 10
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
# PostgreSQL refuses NUL, every encoder a lone surrogate; the other control characters are no text.
_UNSTORABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def fit_posting(posting: Posting) -> Posting:
    """The posting as the tables hold it. Raises ``RowFault`` where it has no usable id or title.

    An id is never altered: two of them could become one. An address that cannot be kept is left out.
    """
    title = fit_line(posting.title, limit=300)
    if not posting.external_id or _UNSTORABLE.search(posting.external_id):
        raise RowFault(SkipReason.MISSING_ID, "external_id")
    if len(posting.external_id) > EXTERNAL_ID_LIMIT:
        raise RowFault(SkipReason.OVER_LONG, "external_id")
    if not title:
        raise RowFault(SkipReason.MISSING_TITLE, "title")
    return replace(
        posting,
        title=title,
        company=fit_line(posting.company, limit=200),
        url=fit_url(posting.url),
        apply_url=fit_url(posting.apply_url),
        requisition_id=fit_line(posting.requisition_id),
        location=fit_line(posting.location),
        places=tuple(place for item in posting.places[:PLACES_LIMIT] if (place := fit_line(item))),
        country=fit_line(posting.country, limit=2),
        remote_eligibility=fit_line(posting.remote_eligibility),
        employment_type=fit_line(posting.employment_type, limit=60),
        department=fit_line(posting.department, limit=120),
        salary=fit_salary(posting.salary),
        posted_at=fit_moment(posting.posted_at),
        updated_at=fit_moment(posting.updated_at),
        closes_at=fit_moment(posting.closes_at),
        language=fit_line(posting.language, limit=10),
        description=fit_description(posting.description),
    )


def fit_content(content: PageContent) -> PageContent:
    """What an enrichment found, as its snapshot holds it."""
    return replace(
        content,
        description=fit_description(content.description),
        apply_url=fit_url(content.apply_url),
        location=fit_line(content.location),
        places=tuple(place for item in content.places[:PLACES_LIMIT] if (place := fit_line(item))),
        remote_eligibility=fit_line(content.remote_eligibility),
        employment_type=fit_line(content.employment_type, limit=60),
        salary=fit_salary(content.salary),
        posted_at=fit_moment(content.posted_at),
        valid_through=fit_moment(content.valid_through),
        evidence=fit_line(content.evidence, limit=80),
        warnings=tuple(fit_line(warning, limit=80) for warning in content.warnings),
    )


def fit_line(text: str, *, limit: int = LINE_LIMIT) -> str:
    return _UNSTORABLE.sub("", text[: limit * 10]).strip()[:limit].rstrip()


def fit_description(text: str) -> str:
    return _UNSTORABLE.sub("", text[:DESCRIPTION_LIMIT]).strip()


def fit_url(url: str) -> str:
    """The address unchanged, or "": a shortened one would lead elsewhere."""
    url = url.strip()
    return "" if len(url) > URL_LIMIT or _UNSTORABLE.search(url) else url


def fit_moment(moment: datetime | None) -> datetime | None:
    """UTC within 1990-2199; without an offset it is taken as UTC."""
    if moment is None:
        return None
    try:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (OverflowError, ValueError):
        return None
    return moment if _EARLIEST <= moment < _LATEST else None


def fit_salary(salary: Salary | None) -> Salary | None:
    """Whole cents below ten thousand million; ``None`` where neither bound can be kept."""
    if salary is None:
        return None
    low, high = _fit_amount(salary.minimum), _fit_amount(salary.maximum)
    if low is None and high is None:
        return None
    currency = fit_line(salary.currency, limit=3)
    return replace(salary, minimum=low, maximum=high, currency=currency, note=fit_line(salary.note, limit=120))


def _fit_amount(amount: Decimal | None) -> Decimal | None:
    if amount is None or not amount.is_finite() or not 0 <= amount < _AMOUNT_LIMIT:
        return None
    cents = amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    return cents if cents < _AMOUNT_LIMIT else None
