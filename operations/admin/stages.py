from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from operations.admin.acting import ask_once, perform_on_jobs, row_action, take_selected
from operations.admin.changelist import IndexedFilter
from operations.admin.log import ORCHESTRATION
from operations.admin.tables import TableAdmin
from operations.admin.ways import ID, NUMBER, TEXT, Way, job_way
from operations.job_actions import JobAction, find_action
from operations.models import DiscoveryExecutionJob, JobStageState, StageCounter


class StandingFilter(IndexedFilter):
    """Stage and state at once, as the index has them; the counters say how many."""

    title = "stage and state"
    parameter_name = "standing"
    order = ("job_id",)

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        counters = StageCounter.objects.filter(rows__gt=0).order_by("stage", "state")
        return [(f"{c.stage}:{c.state}", f"{c.stage} {c.state.replace('_', ' ')} ({c.rows:,})") for c in counters]

    def queryset(self, request: HttpRequest, queryset: QuerySet[JobStageState]) -> QuerySet[JobStageState]:
        stage, colon, state = (self.value() or "").partition(":")
        return queryset.filter(tenant_id=settings.TENANT_ID, stage=stage, state=state) if colon else queryset


@admin.register(JobStageState)
class StageStateAdmin(TableAdmin):
    group, place = ORCHESTRATION, 20
    ways = (
        Way("job_id", "job_id", ID, ("stage",), beginnings=("job_id", "stage")),
        Way("run_id", "owner_run_id", TEXT, ("id",), skips_empty=True),
        Way("id", "id", NUMBER, ("id",)),
    )
    pointers = {"job_id": "job_id", "owner_run_id": "run_id"}
    list_display = ("id", "stage", "state", "error_code", "updated_at", "job_id", "owner_run_id", "attempts")
    list_filter = (StandingFilter,)
    actions = ("reset_stage", "release_stage")

    @row_action("Reset the chosen stages to be done again")
    def reset_stage(self, request: HttpRequest, queryset: Any) -> TemplateResponse | None:
        action = get_action("reset-stage")
        consequence = (
            f"They go back to pending with no attempts counted. {action.consequence} What is running now is left alone."
        )
        return self._perform(request, queryset, action, title="Reset these stages?", consequence=consequence)

    @row_action("Release the chosen stages from runs that cannot be found")
    def release_stage(self, request: HttpRequest, queryset: Any) -> TemplateResponse | None:
        action = get_action("release-stage")
        consequence = f"{action.consequence} A stage whose run is still at work is left alone."
        return self._perform(request, queryset, action, title="Release these stages?", consequence=consequence)

    def _perform(
        self, request: HttpRequest, queryset: Any, action: JobAction, *, title: str, consequence: str
    ) -> TemplateResponse | None:
        rows = take_selected(request, queryset)
        label = action.label.split()[0]
        page = ask_once(self, request, rows, title=title, label=label, consequence=consequence)
        if page is None:
            for stage, job_ids in _group_by_stage(rows).items():
                perform_on_jobs(request, action, job_ids, options={"stage": stage})
        return page


def get_action(name: str) -> JobAction:
    action = find_action(name)
    assert action is not None
    return action


def _group_by_stage(rows: Iterable[JobStageState]) -> dict[str, list[UUID]]:
    groups: dict[str, list[UUID]] = defaultdict(list)
    for row in rows:
        groups[row.stage].append(row.job_id)
    return groups


@admin.register(StageCounter)
class StageCounterAdmin(TableAdmin):
    group, place = ORCHESTRATION, 21
    list_display = ("stage", "state", "rows")


@admin.register(DiscoveryExecutionJob)
class MembershipAdmin(TableAdmin):
    group, place = "Discovery", 40
    ways = (
        job_way(),
        Way("run_id", "run_id", TEXT, ("job_id",), of_tenant=True),
        Way("id", "id", NUMBER, ("id",)),
    )
    list_display = ("id", "job_id", "run_id", "cohort", "plan_state", "plan_reason", "planned_at")
