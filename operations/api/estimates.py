"""``/v1/pipeline/actions/run-stage/estimate``: what a start may cost, before it is made."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from operations.api.base import Operation, refusals
from operations.contracts import SPENDING_STAGES, StageName
from operations.listing.jobs import STAGES
from operations.listing.paging import QueryReader
from operations.spend import read_spend_today
from operations.spend_estimates import FEWEST_JOBS, count_waiting, list_estimates
from operations.starters import MOST_JOBS

STARTABLE = (StageName.DISCOVER, *(stage for stage in STAGES if stage != StageName.APPLY))


class StageEstimate(serializers.Serializer[Any]):
    stage = serializers.CharField()
    lanes = serializers.ListField(child=serializers.CharField())
    jobs = serializers.IntegerField(allow_null=True, help_text="At most so many; null = not known before.")
    sampleSize = serializers.IntegerField(source="sample_size", help_text="Recent jobs with these models.")
    jobLowUsd = serializers.FloatField(source="low_usd", allow_null=True)
    jobHighUsd = serializers.FloatField(source="high_usd", allow_null=True)
    lowUsd = serializers.FloatField(source="all_low_usd", allow_null=True)
    highUsd = serializers.FloatField(source="all_high_usd", allow_null=True)


class EstimateStage(Operation):
    query = (
        OpenApiParameter("stage", str, enum=STARTABLE, required=True),
        OpenApiParameter(
            "jobs",
            {"type": "integer", "minimum": 0, "maximum": MOST_JOBS},
            description="How many it would be about; as many as wait now where it is 0 or absent.",
        ),
    )

    class Output(serializers.Serializer[Any]):
        spends = serializers.BooleanField(help_text="false: the built-in engine does all of it, and nothing is spent.")
        estimates = StageEstimate(many=True, help_text="By stage that may use a model.")
        leftUsd = serializers.FloatField(allow_null=True, help_text="Today; null = no limit.")
        note = serializers.CharField(allow_blank=True)

    @extend_schema(
        operation_id="estimateStage",
        parameters=list(query),
        responses={200: Output, **refusals()},
        tags=["pipeline"],
    )
    def get(self, request: Request) -> Response:
        reader = QueryReader(request.query_params)
        stage, jobs = reader.choice("stage", STARTABLE), reader.integer("jobs", 0, MOST_JOBS)
        if not stage and "stage" not in reader.errors:
            reader.errors["stage"] = f"say which of {', '.join(STARTABLE)}"
        reader.finish()
        return Response(self.Output(estimate_start(StageName(stage), jobs or None)).data)


def estimate_start(stage: StageName, jobs: int | None) -> dict[str, Any]:
    """A discovery prepares what it finds, so it is about every stage, and about nobody knows how many jobs."""
    now = timezone.now()
    is_discovery = stage is StageName.DISCOVER
    about = jobs if jobs or is_discovery else count_waiting(stage)
    estimates = list_estimates(SPENDING_STAGES if is_discovery else (stage,), jobs=about, now=now)
    is_short = any(estimate.low_usd is None for estimate in estimates)
    return {
        "spends": bool(estimates),
        "estimates": estimates,
        "leftUsd": read_spend_today(now).left_usd,
        "note": f"No estimate yet: fewer than {FEWEST_JOBS} jobs." if is_short else "",
    }
