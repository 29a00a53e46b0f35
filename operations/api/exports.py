"""Downloads of a list: all that match as CSV or JSON, up to a limit, and saying so where it cut."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from operations.listing.paging import EXPORT_LIMIT, QueryReader, encode_cursor

FORMATS: Final = ("json", "csv")
FORMAT: Final = OpenApiParameter(
    "format",
    str,
    enum=FORMATS,
    description=f"A download of all that match, at most {EXPORT_LIMIT:,} rows, in place of a page. One that was cut "
    "says so: JSON in `notes`, with `nextCursor` for the rest; CSV in a last line and in the file's name.",
)
CUT: Final = (
    f"Only the first {EXPORT_LIMIT:,} are in this file; more match. Filter for fewer, or fetch them page by page."
)
SLICE: Final = 500


def read_format(request: Request) -> str:
    """ "" = no download but a page."""
    reader = QueryReader(request.query_params)
    chosen = reader.choice("format", FORMATS)
    reader.finish()
    return chosen


def answer_csv(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A CSV download. A cell that a spreadsheet would run as a formula is quoted."""
    text = io.StringIO(newline="")
    sheet = csv.writer(text)
    sheet.writerow(columns)
    found = iter(rows)
    sheet.writerows([defuse(value) for value in row] for row in islice(found, EXPORT_LIMIT))
    is_cut = next(found, None) is not None
    if is_cut:
        sheet.writerow([CUT])
    return _attach(HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8"), name, "csv", is_cut=is_cut)


def answer_json(
    name: str,
    rows: Iterable[Any],
    *,
    output: Callable[..., serializers.BaseSerializer[Any]],
    order: Sequence[str],
    notes: Sequence[str],
) -> HttpResponse:
    """A JSON download of the shape that a page has; written in slices, so that only text is held of all of it."""
    found = iter(rows)
    allowed = islice(found, EXPORT_LIMIT)
    body, last, between = io.BytesIO(), None, b""
    body.write(b'{"%s":[' % name.encode())
    while part := list(islice(allowed, SLICE)):
        body.write(between + JSONRenderer().render(output(part, many=True).data)[1:-1])
        last, between = part[-1], b","
    is_cut = next(found, None) is not None
    cursor = encode_cursor([getattr(last, field) for field in order]) if is_cut else ""
    said = [*notes, *([CUT] if is_cut else [])]
    body.write(b'],"nextCursor":%s,"notes":%s}' % (json.dumps(cursor).encode(), json.dumps(said).encode()))
    return _attach(HttpResponse(body.getvalue(), content_type="application/json"), name, "json", is_cut=is_cut)


def take_for_export(rows: Any) -> Iterator[Any]:
    """One more than is exported, so that a cut is noticed; read in slices."""
    return iter(rows[: EXPORT_LIMIT + 1].iterator(chunk_size=SLICE))


def _attach(response: HttpResponse, name: str, ending: str, *, is_cut: bool) -> HttpResponse:
    file = f"{name}-first-{EXPORT_LIMIT}" if is_cut else name
    response["Content-Disposition"] = f'attachment; filename="{file}.{ending}"'
    return response


def defuse(value: Any) -> Any:
    """Text that starts like a formula gets a leading apostrophe (OWASP, CSV injection)."""
    if isinstance(value, str) and value.lstrip(" \n\ufeff")[:1] in (
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        "＝",
        "＋",
        "－",
        "＠",
    ):
        return f"'{value}" if value.strip() else value
    return "" if value is None else value
