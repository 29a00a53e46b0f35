"""``/v1/workflow-runs``: the list, one run, cancel."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from operations import queries
from operations.api.base import PAGING, Operation, refusals
from operations.listing.runs import STATUSES, list_runs, read_run_filter
from operations.services.cancellation import cancel_run


class RunOutput(serializers.Serializer[Any]):
    runId = serializers.CharField(source="run_id")
    workflowId = serializers.CharField(source="workflow_id")
    workflowType = serializers.CharField(source="workflow_type", allow_blank=True)
    status = serializers.CharField()
    provisional = serializers.BooleanField()
    cancelRequested = serializers.BooleanField(source="cancel_requested")
    jobId = serializers.UUIDField(source="job_id", allow_null=True)
    errorCode = serializers.CharField(source="error_code", allow_blank=True)
    reasonCode = serializers.CharField(source="reason_code", allow_blank=True)
    summary = serializers.DictField(source="summary_json")
    result = serializers.DictField(source="result_json")
    previousRunId = serializers.CharField(source="previous_run_id", allow_blank=True)
    nextRunId = serializers.CharField(source="next_run_id", allow_blank=True)
    startedAt = serializers.DateTimeField(source="started_at", allow_null=True)
    endedAt = serializers.DateTimeField(source="ended_at", allow_null=True)


class ListRuns(Operation):
    query = (
        OpenApiParameter("status", str, enum=(*STATUSES, "open", "ended_badly")),
        OpenApiParameter("type", {"type": "string", "maxLength": 80}),
        OpenApiParameter("jobId", OpenApiTypes.UUID),
        OpenApiParameter("since", str, description="A date, or a date and time, in UTC unless it says otherwise."),
        OpenApiParameter("until", str),
        OpenApiParameter("q", {"type": "string", "maxLength": 200}, description="The start of a workflow or run ID."),
        *PAGING,
    )

    class Output(serializers.Serializer[Any]):
        runs = RunOutput(many=True)
        nextCursor = serializers.CharField(allow_blank=True)
        notes = serializers.ListField(child=serializers.CharField())

    @extend_schema(
        operation_id="listWorkflowRuns",
        parameters=list(query),
        responses={200: Output, **refusals()},
        tags=["runs"],
    )
    def get(self, request: Request) -> Response:
        wanted = read_run_filter(request.query_params)
        page = list_runs(wanted, cursor=request.query_params.get("cursor", ""), limit=self.read_limit(request))
        return Response(
            {"runs": RunOutput(page.rows, many=True).data, "nextCursor": page.next_cursor, "notes": page.notes}
        )


class ShowRun(Operation):
    @extend_schema(operation_id="getWorkflowRun", responses={200: RunOutput, **refusals(404)}, tags=["runs"])
    def get(self, request: Request, run_id: str) -> Response:
        run = queries.find_run_row(run_id)
        if run is None:
            raise NotFound("There is no such run.")
        return Response(RunOutput(run).data)


class CancelRun(Operation):
    class Output(serializers.Serializer[Any]):
        runId = serializers.CharField()
        workflowId = serializers.CharField()
        firstExecutionRunId = serializers.CharField()

    @extend_schema(
        operation_id="cancelWorkflowRun",
        request=None,
        responses={202: Output, **refusals(403, 404, 409)},
        tags=["runs"],
    )
    def post(self, request: Request, run_id: str) -> Response:
        run = cancel_run(run_id, requester=self.read_actor(request))
        body = {"runId": run.run_id, "workflowId": run.workflow_id, "firstExecutionRunId": run.run_id}
        return Response(body, status=202)
