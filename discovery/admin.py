"""The operator's window over discovery's tables."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse

from discovery.models import (
    CandidateProfile,
    DiscoveryRun,
    DiscoveryRunSource,
    DuplicateCandidate,
    Job,
    JobSourceObservation,
    PostingContentSnapshot,
    SourceRegistryEntry,
)
from discovery.services.sources import set_source_enabled
from operations.admin.acting import ask_once, perform_on_jobs, row_action, say_outcomes, take_selected
from operations.admin.tables import TableAdmin
from operations.admin.ways import ID, NUMBER, TEXT, Way, job_way
from operations.job_actions import find_action
from operations.queries import find_run_row

DISCOVERY = "Discovery"


@admin.register(Job)
class JobAdmin(TableAdmin):
    group, place, home_of = DISCOVERY, 10, "job_id"
    ways = (job_way("id", home=True),)
    pointers = {"id": "job_id"}
    list_display = ("title", "company", "kind", "board", "external_id", "active_state", "hidden", "deleted_at")
    actions = ("hide", "unhide", "delete_jobs", "restore")

    @row_action("Hide the chosen jobs")
    def hide(self, request: HttpRequest, queryset: Any) -> None:
        self._perform(request, queryset, "hide")

    @row_action("Show the chosen hidden jobs again")
    def unhide(self, request: HttpRequest, queryset: Any) -> None:
        self._perform(request, queryset, "unhide")

    @row_action("Restore the chosen deleted jobs")
    def restore(self, request: HttpRequest, queryset: Any) -> None:
        self._perform(request, queryset, "restore")

    @row_action("Delete the chosen jobs from every list")
    def delete_jobs(self, request: HttpRequest, queryset: Any) -> TemplateResponse | None:
        return self._perform(request, queryset, "delete")

    def _perform(self, request: HttpRequest, queryset: Any, name: str) -> TemplateResponse | None:
        action = find_action(name)
        assert action is not None, name
        jobs = take_selected(request, queryset)
        if action.consequence:
            title = f"{action.label} these jobs?"
            page = ask_once(self, request, jobs, title=title, consequence=action.consequence, label=action.label)
            if page is not None:
                return page
        if jobs:
            perform_on_jobs(request, action, [job.id for job in jobs])
        return None


@admin.register(JobSourceObservation)
class ObservationAdmin(TableAdmin):
    group, place = DISCOVERY, 11
    ways = (
        job_way(),
        Way("source_id", "source_id", TEXT, ("external_id",), of_tenant=True),
        Way("id", "id", NUMBER, ("id",)),
    )
    pointers = {"job_id": "job_id", "source_id": "source_id", "last_run_id": "run_id"}
    list_display = ("id", "source_id", "external_id", "job_id", "times_seen", "first_seen_at", "last_seen_at")


@admin.register(PostingContentSnapshot)
class SnapshotAdmin(TableAdmin):
    """Immutable."""

    group = "Enrichment"
    ways = (
        job_way(then="version"),
        Way("description_hash", "description_hash", TEXT, ("id",)),
        Way("id", "id", NUMBER, ("id",)),
    )
    list_display = ("id", "job_id", "version", "tier", "confidence", "active_state", "quarantined", "captured_at")


@admin.register(DuplicateCandidate)
class DuplicateAdmin(TableAdmin):
    group, place = DISCOVERY, 12
    ways = (
        job_way(then="other_job_id"),
        Way("other_job_id", "other_job_id", ID, ("id",)),
        Way("id", "id", NUMBER, ("id",)),
    )
    pointers = {"job_id": "job_id", "other_job_id": "job_id"}
    list_display = ("id", "job_id", "other_job_id", "reason", "similarity", "state", "detected_at")


@admin.register(SourceRegistryEntry)
class SourceAdmin(TableAdmin):
    group, place, home_of = DISCOVERY, 20, "source_id"
    ways = (Way("source_id", "id", TEXT, ("id",), beginnings=("id",)),)
    pointers = {"id": "source_id"}
    list_display = ("id", "label", "family", "enabled", "state", "error_code", "updated_at")
    actions = ("enable", "disable")

    @row_action("Crawl the chosen sources from the next run on")
    def enable(self, request: HttpRequest, queryset: Any) -> None:
        self._switch(request, queryset, enabled=True)

    @row_action("Leave the chosen sources out from the next run on")
    def disable(self, request: HttpRequest, queryset: Any) -> None:
        self._switch(request, queryset, enabled=False)

    def _switch(self, request: HttpRequest, queryset: Any, *, enabled: bool) -> None:
        def switch(source: SourceRegistryEntry) -> str:
            set_source_enabled(source.id, enabled=enabled)
            return ""

        done = "Enabled" if enabled else "Disabled"
        say_outcomes(request, take_selected(request, queryset), switch, done=done)


@admin.register(DiscoveryRun)
class DiscoveryRunAdmin(TableAdmin):
    group, place = DISCOVERY, 30
    keys = ("run_id",)
    ways = (Way("run_id", "run_id", TEXT, ("run_id",), beginnings=("run_id",)),)
    list_display = ("run_id", "standing", "error_code", "progress_done", "progress_total", "started_at", "ended_at")

    @admin.display(description="status")
    def standing(self, run: DiscoveryRun) -> str:
        """Asks of the few that have not ended whether their workflow is still there."""
        workflow = find_run_row(run.run_id) if run.ended_at is None else None
        return "unknown: its run cannot be found" if workflow and workflow.provisional else run.status


@admin.register(DiscoveryRunSource)
class DiscoveryRunSourceAdmin(TableAdmin):
    group, place = DISCOVERY, 31
    ways = (Way("run_id", "run_id", TEXT, ("source_id",)), Way("id", "id", NUMBER, ("id",)))
    pointers = {"run_id": "run_id", "source_id": "source_id"}
    list_display = ("id", "run_id", "source_id", "family", "state", "error_code", "updated_at")


@admin.register(CandidateProfile)
class ProfileAdmin(TableAdmin):
    """Immutable versions; the profile page makes new ones."""

    group, place = DISCOVERY, 50
    list_display = ("version", "content_hash", "imported_at")
