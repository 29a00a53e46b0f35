"""``/v1/jobs``: the list, one job, and what may be done to it."""

from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from operations import queries
from operations.api.base import (
    IDEMPOTENCY,
    PAGING,
    Operation,
    StartedOutput,
    answer_started,
    refusals,
)
from operations.api.costs import CostOutput, write_cost
from operations.api.errors import Conflict
from operations.api.exports import FORMAT, answer_csv, answer_json, read_format, take_for_export
from operations.contracts import StageName
from operations.errors import WorkerUnavailable
from operations.job_actions import ActionRequest, ActionResult, find_action, list_actions
from operations.listing.jobs import ORDERS, STAGES, STATES, VIEWS, filter_jobs, list_jobs, read_job_filter
from operations.queries.spend import add_costs, map_stage_costs
from operations.starters import MOST_JOBS, StartOrder, start_stage

EXPORTED = ("job_id", "title", "company", "location", "work_mode", "salary", "fit_score", "current_stage",
            "active_state", "source", "url", "posted_at", "discovered_at")  # fmt: skip
#: A refusal of the only job asked for, as a guard's answer.
GUARDS = {
    "ACTIVE_WORK": (
        "active_work",
        "This stage is being worked on. Wait until its run has ended, or stop that run and reset the stage with the "
        "action revoke-stage.",
    ),
    "STILL_ENDING": (
        "active_work",
        "The run that holds this stage was asked to stop and has not ended yet, so nothing was reset. Repeat this in "
        "a moment.",
    ),
    "OWNER_LOST": (
        "not_eligible",
        "The run that holds this stage cannot be found, so it cannot be stopped. Use the action release-stage.",
    ),
    "RESULT_KEPT": ("not_eligible", "The stage was finished before it could be stopped; its result is kept."),
    "not_cancelable": ("not_cancelable", "Nothing is running for this job."),
    "RUN_OPEN": ("active_work", "The run that holds this stage is still at work. Cancel it, or wait for its end."),
    "NOT_HELD": ("not_eligible", "No run holds this stage, so there is nothing to take from it."),
    "NO_SUCH_ROW": ("not_eligible", "This job has no such stage yet. Run the stage before it first."),
    "JOB_DELETED": ("not_eligible", "This job was deleted. Restore it first."),
}

FILTERS = [
    OpenApiParameter("stage", str, enum=STAGES),
    OpenApiParameter("state", str, enum=STATES, description="Of `stage`; of any where that is absent."),
    OpenApiParameter("minScore", {"type": "integer", "minimum": 1, "maximum": 10}),
    OpenApiParameter("maxScore", {"type": "integer", "minimum": 1, "maximum": 10}),
    OpenApiParameter("source", {"type": "string", "maxLength": 160}, description="As in `source` of a job."),
    OpenApiParameter(
        "place",
        {"type": "string", "maxLength": 200},
        description="Words of the place, or `remote`, `hybrid`, `onsite`; a job must have all of them.",
    ),
    OpenApiParameter("active", str, enum=("active", "closed", "unknown")),
    OpenApiParameter("q", {"type": "string", "maxLength": 200}, description="Words in title, company or place."),
    OpenApiParameter("maxAgeDays", {"type": "integer", "minimum": 1, "maximum": 3650}),
    OpenApiParameter("documents", str, enum=("yes", "no")),
    OpenApiParameter("needs", str, enum=("me",), description="Only what waits for a person."),
    OpenApiParameter("view", str, enum=VIEWS),
    OpenApiParameter("sort", str, enum=tuple(ORDERS)),
    FORMAT,
]


class JobOutput(serializers.Serializer[Any]):
    jobId = serializers.UUIDField(source="job_id")
    title = serializers.CharField()
    company = serializers.CharField()
    location = serializers.CharField(allow_blank=True)
    workMode = serializers.CharField(source="work_mode", allow_blank=True)
    salary = serializers.CharField(allow_blank=True)
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    sourceCount = serializers.IntegerField(source="source_count")
    url = serializers.CharField(allow_blank=True)
    activeState = serializers.CharField(source="active_state")
    hidden = serializers.BooleanField()
    deleted = serializers.BooleanField()
    currentStage = serializers.CharField(source="current_stage")
    stages = serializers.DictField(source="stages_json", child=serializers.CharField())
    fitScore = serializers.IntegerField(source="fit_score", allow_null=True)
    hasDocuments = serializers.BooleanField(source="has_documents")
    postedAt = serializers.DateTimeField(source="posted_at", allow_null=True)
    discoveredAt = serializers.DateTimeField(source="discovered_at", allow_null=True)
    updatedAt = serializers.DateTimeField(source="updated_at", allow_null=True)


class ListJobs(Operation):
    query = (*FILTERS, *PAGING)

    class Output(serializers.Serializer[Any]):
        jobs = JobOutput(many=True)
        nextCursor = serializers.CharField(allow_blank=True)
        notes = serializers.ListField(child=serializers.CharField())

    @extend_schema(
        operation_id="listJobs",
        parameters=list(query),
        responses={(200, "application/json"): Output, (200, "text/csv"): OpenApiTypes.STR, **refusals()},
        tags=["jobs"],
    )
    def get(self, request: Request) -> HttpResponseBase:
        wanted = read_job_filter(request.query_params)
        now = timezone.now()
        if chosen := read_format(request):
            order = ORDERS[wanted.sort]
            rows, notes = filter_jobs(wanted, now=now)
            rows = rows.order_by(*(f"-{name}" for name in order))
            if chosen == "csv":
                return answer_csv("jobs", EXPORTED, take_for_export(rows.values_list(*EXPORTED)))
            return answer_json("jobs", take_for_export(rows), output=JobOutput, order=order, notes=notes)
        page = list_jobs(wanted, now=now, cursor=request.query_params.get("cursor", ""), limit=self.read_limit(request))
        return Response(
            {"jobs": JobOutput(page.rows, many=True).data, "nextCursor": page.next_cursor, "notes": page.notes}
        )


class JobDetailOutput(JobOutput):
    timeline = serializers.DictField(source="detail.stages_json")
    score = serializers.DictField(source="detail.score_json")
    enrichment = serializers.DictField(source="detail.enrichment_json")
    documents = serializers.DictField(source="detail.documents_json")


class ShowJob(Operation):
    class Output(JobDetailOutput, CostOutput):
        """With what the models cost that the job's stages asked, of its newest 5,000 calls."""

    @extend_schema(operation_id="getJob", responses={200: Output, **refusals(404)}, tags=["jobs"])
    def get(self, request: Request, job_id: UUID) -> Response:
        job = queries.find_job(job_id)
        if job is None:
            raise NotFound("There is no such job.")
        cost = add_costs(list(map_stage_costs(job_id).values()))
        return Response({**JobDetailOutput(job).data, **write_cost(cost)})


class ActionOutput(serializers.Serializer[Any]):
    done = serializers.ListField(child=serializers.UUIDField(), help_text="Jobs that were changed.")
    refused = serializers.DictField(child=serializers.CharField(), help_text="A code for each job left as it was.")


class ActOnJob(Operation):
    class Input(serializers.Serializer[Any]):
        stage = serializers.ChoiceField(choices=[stage for stage in STAGES if stage != StageName.APPLY], required=False)

    @extend_schema(
        operation_id="actOnJob",
        request=Input,
        parameters=[
            IDEMPOTENCY,
            OpenApiParameter("action", str, OpenApiParameter.PATH, description="What to do."),
        ],
        responses={200: ActionOutput, 202: StartedOutput, **refusals(403, 404, 409, 413, 415)},
        tags=["jobs"],
    )
    def post(self, request: Request, job_id: UUID, action: str) -> Response:
        known = find_action(action)
        if known is None:
            raise NotFound(f"There is no such action; known are {', '.join(item.name for item in list_actions())}.")
        given = self.read_input(self.Input, request)
        if known.needs_stage and "stage" not in given:
            raise serializers.ValidationError({"stage": "say which stage"})
        if queries.find_job(job_id) is None:
            raise NotFound("There is no such job.")
        result = known.perform(ActionRequest((job_id,), self.read_actor(request), given, self.read_key(request)))
        return answer_action(result, job_id)


def answer_action(result: ActionResult, job_id: UUID) -> Response:
    """202 with the run's ids, 409 or 503 where the only job was refused, else 200."""
    if result.started is not None:
        return answer_started(result.started)
    if result.refused.get(job_id) == WorkerUnavailable.code:
        raise WorkerUnavailable(
            "Some runs of this job were asked to stop, then Temporal was lost. Ask again in a moment."
        )
    guard = GUARDS.get(result.refused.get(job_id, ""))
    if guard is not None:
        raise Conflict(guard[1], code=guard[0])
    refused = {str(refused_id): code for refused_id, code in result.refused.items()}
    return Response({"done": [str(done) for done in result.done], "refused": refused})


class RunStage(Operation):
    class Input(serializers.Serializer[Any]):
        stage = serializers.ChoiceField(choices=["discover", *(s for s in STAGES if s != StageName.APPLY)])
        jobIds = serializers.ListField(
            child=serializers.UUIDField(),
            required=False,
            allow_empty=False,
            max_length=1000,
            help_text="Only these jobs; every eligible one where it is absent.",
        )
        limit = serializers.IntegerField(min_value=0, max_value=MOST_JOBS, default=0, help_text="0 = all of them.")

    @extend_schema(
        operation_id="runStage",
        request=Input,
        parameters=[IDEMPOTENCY],
        responses={202: StartedOutput, **refusals(403, 404, 409, 413, 415)},
        tags=["pipeline"],
    )
    def post(self, request: Request) -> Response:
        given = self.read_input(self.Input, request)
        job_ids = given.get("jobIds")
        if job_ids is not None and given["stage"] == StageName.DISCOVER:
            raise serializers.ValidationError({"jobIds": "a discovery run looks for jobs; it takes none"})
        if job_ids is not None:
            unknown = queries.list_unknown_jobs(job_ids)
            if unknown:
                raise NotFound(f"There is no job {unknown[0]}.")
        started = start_stage(StartOrder(StageName(given["stage"]), job_ids, given["limit"], self.read_key(request)))
        return answer_started(started)
