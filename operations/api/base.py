"""What every operation of the API has in common."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from operations.access.actors import Actor
from operations.api.errors import ErrorOutput
from operations.listing.paging import BadQuery
from operations.services.starts import Started

KEY_LIMIT: Final = 200
NAMED_AT_MOST: Final = 20
PAGING: Final = (
    OpenApiParameter("cursor", str, description="From `nextCursor` of the page before."),
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}, description="Rows a page."
    ),
)
IDEMPOTENCY: Final = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": KEY_LIMIT},
    OpenApiParameter.HEADER,
    description="A repeat answers with the recorded ids and starts nothing; with another request under it, 409.",
)


def refusals(*codes: int) -> dict[int, OpenApiResponse]:
    """The documented refusals of an operation; any of them may find the database gone."""
    return {code: OpenApiResponse(ErrorOutput) for code in sorted({400, 401, 503, *codes})}


class StartedOutput(serializers.Serializer[Any]):
    """A workflow that now works: ``existing`` where it was running already, ``note`` where ``runId`` is still empty."""

    runId = serializers.CharField(source="run_id")
    workflowId = serializers.CharField(source="workflow_id")
    firstExecutionRunId = serializers.CharField(source="run_id")
    existing = serializers.BooleanField()
    note = serializers.CharField(required=False)

    def to_representation(self, instance: Started) -> dict[str, Any]:
        shown = super().to_representation(instance)
        return {name: value for name, value in shown.items() if name != "note" or value}


class Operation(APIView):
    # No docstring: the schema would show it as the description of every operation that has none of its own.
    # One address. Each operation reads its input, calls one service or query, writes its output.

    #: What its GET may be asked; anything else is refused, so that a misspelt filter is not taken for none.
    query: ClassVar[Sequence[OpenApiParameter]] = ()
    ignores_query: ClassVar[bool] = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any("\x00" in value for value in kwargs.values() if isinstance(value, str)):
            raise NotFound("There is nothing at this address.")
        if not self.ignores_query:
            check_query(request, [parameter.name for parameter in self.query])

    def read_key(self, request: Request) -> str:
        """The ``Idempotency-Key`` header, bounded."""
        key = request.headers.get("Idempotency-Key", "").strip()
        if len(key) > KEY_LIMIT:
            raise serializers.ValidationError({"Idempotency-Key": f"it is longer than {KEY_LIMIT} characters"})
        return key

    def read_actor(self, request: Request) -> str:
        """Who is named in audit events."""
        return request.auth.name if isinstance(request.auth, Actor) else str(request.user.get_username())

    def read_limit(self, request: Request) -> int:
        value = request.query_params.get("limit", "")
        if not value:
            return 50
        if not value.isascii() or not value.isdigit() or len(value) > 4 or not 1 <= int(value) <= 200:
            raise serializers.ValidationError({"limit": "it is not a whole number from 1 to 200"})
        return int(value)

    def read_input(self, serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
        """The body; a field that is not known is refused, since a misspelt one would silently mean its default."""
        given = serializer(data=request.data)
        given.is_valid(raise_exception=True)
        unknown = [name for name in request.data if name not in given.fields]
        if unknown:
            reason = f"there is no such field; known are {', '.join(given.fields) or 'none'}"
            raise serializers.ValidationError({name[:80]: reason for name in unknown[:NAMED_AT_MOST]})
        found: dict[str, Any] = given.validated_data
        return found


def check_query(request: Request, known: Sequence[str]) -> None:
    """Raises ``BadQuery`` for parameters that are not known or are given twice."""
    problems = {}
    for name, values in request.query_params.lists():
        if name not in known:
            problems[name[:80]] = f"there is no such parameter; known are {', '.join(known) or 'none'}"
        elif len(values) > 1:
            problems[name] = "it is given more than once"
    if problems:
        raise BadQuery(dict(list(problems.items())[:NAMED_AT_MOST]))


def answer_started(started: Started) -> Response:
    return Response(StartedOutput(started).data, status=202)
