"""Dates as a resume shows them."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def format_month(date: str) -> str:
    """ "2013-12-01" and "2013-12" as "Dec 2013", "2013" as it is."""
    year, _, rest = date.partition("-")
    return f"{_MONTHS[int(rest[:2]) - 1]} {year}" if rest else year


def format_span(start: str, end: str) -> str:
    """ "Mar 2021 – Present"; one date where both are the same month; "" where none is known."""
    if not start:
        return format_month(end)
    first, last = format_month(start), format_month(end) if end else "Present"
    return first if first == last else f"{first} – {last}"
