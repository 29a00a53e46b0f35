"""``/v1/events``: the audit list, markers included."""

from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from operations.api.base import PAGING, Operation, answer_csv, refusals
from operations.listing.events import list_events, read_event_filter

EXPORTED = ("id", "recorded_at", "event_type", "job_id", "workflow_id", "run_id", "payload")


class EventOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    type = serializers.CharField(source="event_type")
    version = serializers.IntegerField()
    typed = serializers.BooleanField()
    jobId = serializers.UUIDField(source="job_id", allow_null=True)
    workflowId = serializers.CharField(source="workflow_id", allow_blank=True)
    runId = serializers.CharField(source="run_id", allow_blank=True)
    payload = serializers.DictField()
    recordedAt = serializers.DateTimeField(source="recorded_at")


class ListEvents(Operation):
    class Output(serializers.Serializer[Any]):
        events = EventOutput(many=True)
        nextCursor = serializers.CharField(allow_blank=True)
        notes = serializers.ListField(child=serializers.CharField())

    @extend_schema(
        operation_id="listEvents",
        parameters=[
            OpenApiParameter("type", str),
            OpenApiParameter("jobId", str),
            OpenApiParameter("runId", str),
            OpenApiParameter("workflowId", str),
            OpenApiParameter("q", str),
            OpenApiParameter("format", str, enum=("json", "csv")),
            *PAGING,
        ],
        responses={200: Output, **refusals()},
        tags=["events"],
    )
    def get(self, request: Request) -> HttpResponseBase:
        wanted = read_event_filter(request.query_params)
        page = list_events(wanted, cursor=request.query_params.get("cursor", ""), limit=self.read_limit(request))
        if request.query_params.get("format") == "csv":
            return answer_csv("events", EXPORTED, ([getattr(row, name) for name in EXPORTED] for row in page.rows))
        return Response(
            {"events": EventOutput(page.rows, many=True).data, "nextCursor": page.next_cursor, "notes": page.notes}
        )
