"""Single values of a schema.org JobPosting. Pure; each reader takes whatever the page put there."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from discovery.contracts import PayPeriod, Salary

_EMPTY: Final = frozenset({"", "-", "--", "n/a", "none", "null", "undefined"})
_DATE_ONLY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_ZONE_NAME: Final = re.compile(r"\s*(?:UTC|GMT)$", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_HOST: Final = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_][\w-]*\.?")
_PERIODS: Final = {
    "YEAR": PayPeriod.YEAR, "YEARLY": PayPeriod.YEAR, "ANNUAL": PayPeriod.YEAR, "ANNUALLY": PayPeriod.YEAR,
    "ANNUM": PayPeriod.YEAR, "ANN": PayPeriod.YEAR, "MONTH": PayPeriod.MONTH, "MONTHLY": PayPeriod.MONTH,
    "MON": PayPeriod.MONTH, "WEEK": PayPeriod.WEEK, "WEEKLY": PayPeriod.WEEK, "WEE": PayPeriod.WEEK,
    "DAY": PayPeriod.DAY, "DAILY": PayPeriod.DAY, "HOUR": PayPeriod.HOUR, "HOURLY": PayPeriod.HOUR,
    "HUR": PayPeriod.HOUR,
}  # fmt: skip  # the three-letter ones are UN/CEFACT unit codes, which schema.org also allows
_OLDEST_YEAR: Final = 1990  # an end date before the web is a placeholder, not a date


def iter_values(value: object) -> Iterator[object]:
    """One value or many, as JSON-LD leaves open."""
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def read_name(value: object) -> str:
    """The text of a string, or the name of a thing; the first one that has any."""
    from discovery.text import clean_line

    for item in iter_values(value):
        text = item.get("name") or item.get("legalName") if isinstance(item, dict) else item
        if isinstance(text, str) and clean_line(text).lower() not in _EMPTY:
            return clean_line(text)
    return ""


def list_names(value: object) -> list[str]:
    return list(dict.fromkeys(name for item in iter_values(value) if (name := read_name(item))))


def read_moment(value: object, *, end_of_day: bool = False) -> datetime | None:
    """A time in UTC, also where no zone is named; None for anything unreadable or before 1990.

    ``end_of_day``: a bare date means its last second.
    """
    text = _ZONE_NAME.sub("+00:00", value.strip()) if isinstance(value, str) else ""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if _DATE_ONLY.fullmatch(text) and end_of_day:
        moment = datetime.combine(moment.date(), time.max.replace(microsecond=0))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    # At the calendar's ends a conversion to another zone would overflow.
    return moment.astimezone(UTC) if _OLDEST_YEAR <= moment.year < 9999 else None


def read_place(value: object) -> str:
    """ "Town, Region, Country" of a Place, an address or a plain text; "" where nothing is said."""
    if not isinstance(value, dict):
        return read_name(value)
    for address in iter_values(value.get("address", value)):
        if not isinstance(address, dict):
            place = read_name(address)
        else:
            keys = ("addressLocality", "addressRegion", "addressCountry")
            place = ", ".join(part for key in keys if (part := read_name(address.get(key))))
        if place:
            return place
    return read_name(value)


def read_url(value: object, *, base: str) -> str:
    """An absolute http(s) URL on a host with a dotted name, else ""."""
    if not isinstance(value, str) or not value.strip():
        return ""
    try:
        url = urljoin(base, value.strip())
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return ""
    is_plain = parts.scheme in ("http", "https") and "@" not in parts.netloc and not re.search(r"[\s<>\"{}]", url)
    return url if is_plain and _HOST.fullmatch(host) and len(url) <= 2000 else ""


def read_salary(posting: Mapping[str, Any]) -> Salary | None:
    """``baseSalary`` alone: ``estimatedSalary`` is the site's guess, not the employer's word."""
    for item in iter_values(posting.get("baseSalary")):
        salary = _read_amount(item, fallback=read_name(posting.get("salaryCurrency")))
        if salary is not None:
            return salary
    return None


def _read_amount(item: object, *, fallback: str) -> Salary | None:
    amount = item if isinstance(item, dict) else {"value": item}
    values = next(iter_values(amount.get("value")), None)
    quantity = values if isinstance(values, dict) else {"value": values}
    currency = (read_name(amount.get("currency")) or read_name(quantity.get("currency")) or fallback).upper()
    currency = currency if _CURRENCY.fullmatch(currency) else ""
    units = (quantity.get("unitText"), amount.get("unitText"), quantity.get("unitCode"))
    unit = next((name for value in units if (name := read_name(value))), "")
    period = _PERIODS.get(unit.upper().removeprefix("PER ").strip(), PayPeriod.UNKNOWN)
    single = read_decimal(quantity.get("value"))
    minimum = read_decimal(quantity.get("minValue")) or read_decimal(amount.get("minValue")) or single
    maximum = read_decimal(quantity.get("maxValue")) or read_decimal(amount.get("maxValue")) or single
    if minimum is None and maximum is None:
        return _read_written(quantity.get("value"), currency=currency, period=period)
    if minimum is not None and maximum is not None and minimum > maximum:
        minimum, maximum = maximum, minimum
    return Salary(minimum, maximum, currency, period)


def _read_written(value: object, *, currency: str, period: PayPeriod) -> Salary | None:
    """Pay put in words where a number belongs; the field's own period comes before one that the words suggest."""
    from discovery.salary import parse_salary

    salary = parse_salary(read_name(value), currency_hint=currency)
    return salary if salary is None or period is PayPeriod.UNKNOWN else replace(salary, period=period)


def read_decimal(value: object) -> Decimal | None:
    """A positive amount; "85,000" is eighty-five thousand, other punctuation is not guessed at."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value).strip()
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    if not amount.is_finite() or not Decimal(0) < amount < Decimal(10) ** 12:
        return None
    whole = amount.to_integral_value()
    return whole if whole == amount else amount
