"""``GET /v1/metrics``: for Prometheus, which sends an API token."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.request import Request

from operations.api.base import Operation, refusals
from operations.monitoring import render_metrics


class ShowMetrics(Operation):
    ignores_query = True

    @extend_schema(
        operation_id="getMetrics",
        description="Prometheus' text format: workers, slots, queue, stages, projections, runs, spend, streams.",
        responses={(200, "text/plain"): OpenApiTypes.STR, **refusals()},
        tags=["health"],
    )
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(render_metrics(), content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})
