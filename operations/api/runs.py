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
from operations.api.costs import CostOutput, write_cost, write_costs
from operations.listing.runs import GROUPS, SORTS, STATUSES, list_runs, read_run_filter
from operations.models import WorkflowRunProjection
from operations.queries.spend import find_run_cost, map_run_costs
from operations.services.cancellation import cancel_run
from operations.temporal_probe import TemporalState, temporal_probe


class RunOutput(serializers.Serializer[Any]):
    runId = serializers.CharField(source="run_id")
    workflowId = serializers.CharField(source="workflow_id")
    workflowType = serializers.CharField(source="workflow_type", allow_blank=True)
    status = serializers.CharField()
    provisional = serializers.BooleanField()
    cancelRequested = serializers.BooleanField(source="cancel_requested")
    checked = serializers.SerializerMethodField(
        help_text="false: Temporal has not answered lately, so whether this run is still open is not known."
    )
    jobId = serializers.UUIDField(source="job_id", allow_null=True)
    errorCode = serializers.CharField(source="error_code", allow_blank=True)
    reasonCode = serializers.CharField(source="reason_code", allow_blank=True)
    summary = serializers.DictField(source="summary_json")
    result = serializers.DictField(source="result_json")
    previousRunId = serializers.CharField(source="previous_run_id", allow_blank=True)
    nextRunId = serializers.CharField(source="next_run_id", allow_blank=True)
    startedAt = serializers.DateTimeField(source="started_at", allow_null=True)
    endedAt = serializers.DateTimeField(source="ended_at", allow_null=True)
    durationMs = serializers.IntegerField(source="took_ms", allow_null=True)

    def get_checked(self, run: WorkflowRunProjection) -> bool:
        return run.status not in queries.OPEN_STATES or temporal_probe.peek().state is TemporalState.REACHABLE


class CostedRunOutput(RunOutput, CostOutput):
    """With what the models cost that the run itself asked; the runs that it started have costs of their own."""


class PendingOutput(serializers.Serializer[Any]):
    """An activity that Temporal had pending when it was last asked; not ``isFresh``: that was over 45 seconds ago."""

    activityType = serializers.CharField(source="activity_type")
    attempt = serializers.IntegerField()
    maximumAttempts = serializers.IntegerField(source="maximum_attempts", help_text="0 = no limit.")
    state = serializers.ChoiceField(["waiting", "running", "stopping"])
    errorCode = serializers.CharField(source="error_code", allow_blank=True)
    nextAttemptAt = serializers.DateTimeField(source="next_attempt_at", allow_null=True)
    observedAt = serializers.DateTimeField(source="observed_at")
    isFresh = serializers.BooleanField(source="is_fresh")


class ListRuns(Operation):
    query = (
        OpenApiParameter(
            "status", str, enum=(*STATUSES, *GROUPS), description="`ended_badly`: failed, terminated or timed out."
        ),
        OpenApiParameter("retrying", str, enum=("now",), description="Only runs that try a step again now."),
        OpenApiParameter("type", {"type": "string", "maxLength": 80}),
        OpenApiParameter("jobId", OpenApiTypes.UUID),
        OpenApiParameter("since", str, description="A date, or a date and time, in UTC unless it says otherwise."),
        OpenApiParameter("until", str, description="The same; a date includes that day."),
        OpenApiParameter(
            "q",
            {"type": "string", "maxLength": 200},
            description="Words of the job's title, company or place; an error code or the words for it; a workflow or "
            "run ID, or how one begins.",
        ),
        OpenApiParameter("sort", str, enum=SORTS, description="`newest` unless another is asked for."),
        *PAGING,
    )

    class Output(serializers.Serializer[Any]):
        runs = CostedRunOutput(many=True)
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
        costs = map_run_costs([run.run_id for run in page.rows])
        runs = RunOutput(page.rows, many=True).data
        told = write_costs(costs.get(run.run_id) for run in page.rows)
        costed = [{**run, **cost} for run, cost in zip(runs, told, strict=True)]
        return Response({"runs": costed, "nextCursor": page.next_cursor, "notes": page.notes})


class ShowRun(Operation):
    class Output(CostedRunOutput):
        pendingActivities = PendingOutput(many=True)

    @extend_schema(operation_id="getWorkflowRun", responses={200: Output, **refusals(404)}, tags=["runs"])
    def get(self, request: Request, run_id: str) -> Response:
        run = queries.find_run_row(run_id)
        if run is None:
            raise NotFound("There is no such run.")
        pending = queries.list_pending([run_id]) if run.status in queries.OPEN_STATES else []
        shown = {**RunOutput(run).data, **write_cost(find_run_cost(run_id))}
        return Response({**shown, "pendingActivities": PendingOutput(pending, many=True).data})


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
