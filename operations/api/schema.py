"""``/v1/schema/`` and ``/v1/docs/``, and what the generated schema needs beside the serializers."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from operations.access.content_policies import allow_docs_page
from operations.api.base import Operation, refusals
from operations.job_actions import list_actions

Endpoint = tuple[str, str, str, Callable[..., Any]]

show_schema = SpectacularJSONAPIView.as_view()
show_docs = allow_docs_page(
    SpectacularSwaggerSplitView.as_view(url_name="api-schema", template_name="operations/api_docs.html")
)


class NameByPlace(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Nested serializers are called by where they stand: ``ListJobs.Output`` is ``ListJobsOutput``."""

    target_class = "rest_framework.serializers.Serializer"
    match_subclasses = True

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        found = self.target if isinstance(self.target, type) else type(self.target)
        return found.__qualname__.replace(".", "")

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        return auto_schema._map_serializer(self.target, direction, bypass_extensions=True)


class StreamEvents(Operation):
    """Only described here: the stream itself is a plain asynchronous view, which no APIView can be."""

    @extend_schema(
        operation_id="streamEvents",
        description=(
            "Server-sent events, every typed event once in the order of its id: `id` is the event's id, `event` its "
            "type, `data` its payload. Goes on after `Last-Event-ID`, else after `since`, else from now. A comment "
            "every 15 s; `event: heartbeat` with the watermark every 30 s. A slow client is reset and catches up."
        ),
        parameters=[
            OpenApiParameter("Last-Event-ID", {"type": "string", "pattern": "^[0-9]{1,18}$"}, OpenApiParameter.HEADER),
            OpenApiParameter("since", {"type": "string", "pattern": "^[0-9]{1,18}$"}),
        ],
        responses={(200, "text/event-stream"): OpenApiTypes.STR, **refusals(403)},
        tags=["events"],
    )
    def get(self, request: Request) -> Response:
        raise NotImplementedError


def add_stream(endpoints: list[Endpoint]) -> list[Endpoint]:
    """A preprocessing hook: the one operation that is not an APIView."""
    return [*endpoints, ("/v1/events/stream", "^v1/events/stream$", "GET", StreamEvents.as_view())]


def finish_schema(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A postprocessing hook: names in paths in camelCase, as everywhere; a session or a token; the actions."""
    result["paths"] = {rename(path): operations for path, operations in result["paths"].items()}
    for operations in result["paths"].values():
        for operation in operations.values():
            if "security" in operation:
                # Either will do; the generator writes several names of one class as if both were needed.
                operation["security"] = [
                    {name: scopes} for way in operation["security"] for name, scopes in way.items()
                ]
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter["name"] = rename(parameter["name"])
                if parameter["in"] == "path" and parameter["name"] == "action":
                    parameter["schema"]["enum"] = [action.name for action in list_actions()]
    return result


def rename(text: str) -> str:
    """``job_id`` as ``jobId``."""
    first, *others = text.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)
