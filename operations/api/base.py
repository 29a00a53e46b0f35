"""What every operation of the API has in common."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from operations.api.errors import ErrorOutput
from operations.services.starts import Started

KEY_LIMIT = 200

PAGING = [
    OpenApiParameter("cursor", str, description="From `nextCursor` of the page before."),
    OpenApiParameter("limit", int, description="Rows a page, 1 to 200; 50 unless given."),
]
IDEMPOTENCY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="Repeating it answers with the recorded ids."
)


def refusals(*codes: int) -> dict[int, OpenApiResponse]:
    """The documented refusals of an operation."""
    return {code: OpenApiResponse(ErrorOutput) for code in (400, 401, *codes)}


class StartedOutput(serializers.Serializer[Any]):
    """A workflow that now works: ``existing`` where it was running already."""

    runId = serializers.CharField(source="run_id")
    workflowId = serializers.CharField(source="workflow_id")
    firstExecutionRunId = serializers.CharField(source="run_id")
    existing = serializers.BooleanField()


class Operation(APIView):
    """One operation. Reads its input, calls one service or query, writes its output."""

    def read_key(self, request: Request) -> str:
        """The ``Idempotency-Key`` header, bounded."""
        key = request.headers.get("Idempotency-Key", "").strip()
        if len(key) > KEY_LIMIT:
            raise serializers.ValidationError({"Idempotency-Key": f"it is longer than {KEY_LIMIT} characters"})
        return key

    def read_actor(self, request: Request) -> str:
        return str(request.user.get_username())

    def read_limit(self, request: Request) -> int:
        value = request.query_params.get("limit", "")
        if not value:
            return 50
        if not value.isascii() or not value.isdigit() or len(value) > 4 or not 1 <= int(value) <= 200:
            raise serializers.ValidationError({"limit": "it is not a whole number from 1 to 200"})
        return int(value)

    def read_input(self, serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
        given = serializer(data=request.data)
        given.is_valid(raise_exception=True)
        found: dict[str, Any] = given.validated_data
        return found


def answer_started(started: Started) -> Response:
    return Response(StartedOutput(started).data, status=202)


def answer_csv(name: str, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> HttpResponseBase:
    """A CSV download, streamed. A cell that a spreadsheet would run as a formula is quoted."""
    import csv

    class Echo:
        def write(self, value: str) -> str:
            return value

    sheet = csv.writer(Echo())

    def lines() -> Iterable[str]:
        yield sheet.writerow(columns)
        for row in rows:
            yield sheet.writerow([defuse(value) for value in row])

    response = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def defuse(value: Any) -> Any:
    """Text that starts like a formula gets a leading apostrophe (OWASP, CSV injection)."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value
