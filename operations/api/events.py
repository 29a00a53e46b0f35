"""``/v1/events``: the audit list, markers included."""

import json
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from operations.api.base import PAGING, Operation, refusals
from operations.api.exports import FORMAT, answer_csv, answer_json, read_format, take_for_export
from operations.listing.events import ORDER, filter_events, list_events, read_event_filter
from operations.models import JobEventRow

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
    query = (
        OpenApiParameter("type", {"type": "string", "maxLength": 60}),
        OpenApiParameter("jobId", OpenApiTypes.UUID),
        OpenApiParameter("runId", {"type": "string", "maxLength": 80}),
        OpenApiParameter("workflowId", {"type": "string", "maxLength": 200}),
        OpenApiParameter("q", {"type": "string", "maxLength": 200}, description="Any part of a payload."),
        FORMAT,
        *PAGING,
    )

    class Output(serializers.Serializer[Any]):
        events = EventOutput(many=True)
        nextCursor = serializers.CharField(allow_blank=True)
        notes = serializers.ListField(child=serializers.CharField())

    @extend_schema(
        operation_id="listEvents",
        parameters=list(query),
        responses={(200, "application/json"): Output, (200, "text/csv"): OpenApiTypes.STR, **refusals()},
        tags=["events"],
    )
    def get(self, request: Request) -> HttpResponseBase:
        wanted = read_event_filter(request.query_params)
        if chosen := read_format(request):
            rows, notes = filter_events(wanted)
            found = take_for_export(rows.order_by("-id"))
            if chosen == "csv":
                return answer_csv("events", EXPORTED, map(_as_cells, found))
            return answer_json("events", found, output=EventOutput, order=ORDER, notes=notes)
        page = list_events(wanted, cursor=request.query_params.get("cursor", ""), limit=self.read_limit(request))
        return Response(
            {"events": EventOutput(page.rows, many=True).data, "nextCursor": page.next_cursor, "notes": page.notes}
        )


def _as_cells(row: JobEventRow) -> list[Any]:
    payload = json.dumps(row.payload, ensure_ascii=False, sort_keys=True)
    return [*(getattr(row, name) for name in EXPORTED[:-1]), payload]
