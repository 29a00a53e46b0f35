"""The read models, and the watermark from which they are rebuilt and caught up."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from operations.admin.acting import ask_once, row_action, say_outcomes, take_selected
from operations.admin.changelist import IndexedFilter
from operations.admin.log import ORCHESTRATION
from operations.admin.tables import TableAdmin
from operations.admin.ways import ID, TEXT, Way, job_way
from operations.contracts import RunStatus
from operations.management.commands.verify_projections import describe_table
from operations.models import (
    JobDetailProjection,
    JobListProjection,
    PipelineStepProjection,
    ProjectionWatermark,
    WorkflowRunProjection,
)
from operations.services.cancellation import cancel_run
from operations.services.operating import catch_up_app, rebuild_app

NEWEST_RUNS = ("first_seen_at", "run_id")


class ShownFilter(IndexedFilter):
    title = "shown"
    parameter_name = "shown"
    order = ("discovered_at", "job_id")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [("yes", "in lists, newest first"), ("hidden", "hidden"), ("deleted", "deleted")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[JobListProjection]) -> QuerySet[JobListProjection]:
        if self.value() == "deleted":
            return queryset.filter(deleted=True)
        if self.value() in ("yes", "hidden"):
            return queryset.filter(deleted=False, hidden=self.value() == "hidden")
        return queryset


@admin.register(JobListProjection)
class JobListAdmin(TableAdmin):
    group, place, plural = ORCHESTRATION, 50, "jobs, as lists show them"
    keys = ("job_id",)
    ways = (job_way(home=True),)
    list_display = ("title", "company", "source", "current_stage", "fit_score", "hidden", "deleted", "discovered_at")
    list_filter = (ShownFilter,)


@admin.register(JobDetailProjection)
class JobDetailAdmin(TableAdmin):
    group, place, plural = ORCHESTRATION, 51, "jobs, as their pages show them"
    keys = ("job_id",)
    ways = (job_way(home=True),)
    list_display = ("job_id", "sightings", "last_event_id", "updated_at")


class StatusFilter(IndexedFilter):
    title = "status"
    parameter_name = "status"
    order = NEWEST_RUNS

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [(status, status.replace("_", " ")) for status in RunStatus]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[WorkflowRunProjection]
    ) -> QuerySet[WorkflowRunProjection]:
        return queryset.filter(status=self.value()) if self.value() else queryset


@admin.register(WorkflowRunProjection)
class RunAdmin(TableAdmin):
    group, place, home_of = ORCHESTRATION, 30, "run_id"
    keys = NEWEST_RUNS
    ways = (
        Way("run_id", "run_id", TEXT, ("run_id",), beginnings=("run_id",)),
        Way("workflow_id", "workflow_id", TEXT, NEWEST_RUNS),
        Way("job_id", "job_id", ID, ("job_id",)),
        Way("workflow_type", "workflow_type", TEXT, NEWEST_RUNS),
    )
    pointers = {"job_id": "job_id", "run_id": "run_id", "previous_run_id": "run_id", "next_run_id": "run_id"}
    list_display = ("workflow_id", "workflow_type", "status", "started_at", "ended_at", "job_id", "error_code")
    list_filter = (StatusFilter,)
    actions = ("cancel_runs",)

    @row_action("Cancel the chosen runs")
    def cancel_runs(self, request: HttpRequest, queryset: Any) -> TemplateResponse | None:
        runs = take_selected(request, queryset)
        page = ask_once(
            self, request, runs, title="Cancel these runs?", label="Cancel runs",
            consequence="Each is asked to stop at its next safe point. Finished stages keep their results.",
        )  # fmt: skip
        if page is None:
            say_outcomes(request, runs, lambda run: _cancel(run.run_id, request), done="Asked to stop")
        return page


def _cancel(run_id: str, request: HttpRequest) -> str:
    cancel_run(run_id, requester=request.user.get_username())
    return ""


@admin.register(PipelineStepProjection)
class StepAdmin(TableAdmin):
    group, place = ORCHESTRATION, 40
    keys = ("step_key",)
    ways = (
        Way("step_key", "step_key", TEXT, ("step_key",), beginnings=("step_key",)),
        Way("run_id", "step_key", TEXT, ("step_key",), beginnings=("step_key",), ends_with=":"),
    )
    list_display = ("step_key", "kind", "item_key", "state", "attempt", "error_code", "started_at", "finished_at")


@admin.register(ProjectionWatermark)
class WatermarkAdmin(TableAdmin):
    """One row an app. Its projections are rebuilt and caught up from here."""

    group, place = ORCHESTRATION, 60
    keys = ("app",)
    list_display = ("app", "state", "last_event_id", "error_code", "failed_event_id")
    actions = ("rebuild", "catch_up")

    @row_action("Rebuild the projections of the chosen apps")
    def rebuild(self, request: HttpRequest, queryset: Any) -> TemplateResponse | None:
        marks = take_selected(request, queryset)
        page = ask_once(
            self, request, marks, title="Rebuild these projections?", label="Rebuild",
            consequence="The whole log is folded again and every row that differs is put right. Until then the lists "
            "of these apps stand still. Of a large log this takes minutes, and manage.py rebuild_projections shows how "
            "far it is.",
        )  # fmt: skip
        if page is None:
            say_outcomes(request, marks, lambda mark: self._rebuild(request, mark.app), done="Rebuilt")
        return page

    def _rebuild(self, request: HttpRequest, app: str) -> str:
        report = rebuild_app(app, actor=request.user.get_username())
        before = "; ".join(describe_table(table) for table in report.tables)
        return f"{app}, before: {before}. {report.events:,} events were folded. {self._describe_now(app)}"

    @row_action("Catch up the chosen apps, where they are behind")
    def catch_up(self, request: HttpRequest, queryset: Any) -> None:
        marks = take_selected(request, queryset)
        say_outcomes(request, marks, lambda mark: self._catch_up(request, mark.app), done="Caught up")

    def _catch_up(self, request: HttpRequest, app: str) -> str:
        folded = catch_up_app(app, actor=request.user.get_username())
        return f"{app}: {folded:,} events were folded. {self._describe_now(app)}"

    def _describe_now(self, app: str) -> str:
        mark = ProjectionWatermark.objects.get(app=app)
        if mark.error_code:
            return f"Now: {mark.state}, {mark.error_code} at event {mark.failed_event_id:,}."
        return f"Now: {mark.state} at event {mark.last_event_id:,}, as the log says."
