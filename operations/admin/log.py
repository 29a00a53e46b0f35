from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from operations.admin.changelist import IndexedFilter
from operations.admin.tables import TableAdmin
from operations.admin.ways import ID, NUMBER, TEXT, Way
from operations.eventlog import list_event_types
from operations.models import JobEventRow, OperationalAttemptMetric
from operations.services.operating import MARKERS

ORCHESTRATION = "Orchestration / read model"
STEPS_MEASURED = (
    *("source_planning", "discover", "source_family", "enrichment_pass", "preparation_fanout"),
    *("enrich", "score", "tailor", "cover", "pdf", "apply"),
)


class TypeFilter(IndexedFilter):
    title = "type"
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(name, name) for name in sorted({*list_event_types(), *MARKERS})]

    def queryset(self, request: HttpRequest, queryset: QuerySet[JobEventRow]) -> QuerySet[JobEventRow]:
        return queryset.filter(event_type=self.value()) if self.value() else queryset


@admin.register(JobEventRow)
class EventAdmin(TableAdmin):
    """The append-only log: a million rows and more."""

    group, place = ORCHESTRATION, 10
    ways = (
        Way("id", "id", NUMBER, ("id",)),
        Way("job_id", "job_id", ID, ("id",), beginnings=("job_id", "id")),
        Way("run_id", "run_id", TEXT, ("id",), skips_empty=True),
        Way("event_type", "event_type", TEXT, ("id",)),
    )
    list_display = ("id", "event_type", "recorded_at", "job_id", "run_id", "typed")
    list_filter = (TypeFilter,)

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        return None if obj is None else reverse("operations:event", args=[obj.pk])


class StageFilter(IndexedFilter):
    title = "stage"
    parameter_name = "stage"
    order = ("recorded_at", "id")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(name, name) for name in STEPS_MEASURED]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[OperationalAttemptMetric]
    ) -> QuerySet[OperationalAttemptMetric]:
        return queryset.filter(stage=self.value()) if self.value() else queryset


@admin.register(OperationalAttemptMetric)
class MetricAdmin(TableAdmin):
    group, place = ORCHESTRATION, 80
    ways = (Way("id", "id", NUMBER, ("id",)),)
    list_display = ("id", "stage", "outcome", "attempt_kind", "duration_ms", "error_class", "job_id", "recorded_at")
    list_filter = (StageFilter,)
