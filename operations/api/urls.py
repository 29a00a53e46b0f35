"""The engine's part of ``/v1/``."""

from django.urls import path

from operations.api import (
    estimates,
    events,
    health,
    jobs,
    metrics,
    providers,
    runs,
    schema,
    settings,
    spend,
    tokens,
    views,
)

urlpatterns = [
    path("health", health.ShowHealth.as_view()),
    path("metrics", metrics.ShowMetrics.as_view()),
    path("schema/", schema.show_schema, name="api-schema"),
    path("docs/", schema.show_docs, name="api-docs"),
    path("jobs", jobs.ListJobs.as_view(), name="api-jobs"),
    path("jobs/<uuid:job_id>", jobs.ShowJob.as_view()),
    path("jobs/<uuid:job_id>/actions/<str:action>", jobs.ActOnJob.as_view()),
    path("pipeline/actions/run-stage", jobs.RunStage.as_view()),
    path("pipeline/actions/run-stage/estimate", estimates.EstimateStage.as_view()),
    path("workflow-runs", runs.ListRuns.as_view()),
    path("workflow-runs/<str:run_id>", runs.ShowRun.as_view()),
    path("workflow-runs/<str:run_id>/actions/cancel", runs.CancelRun.as_view()),
    path("events", events.ListEvents.as_view(), name="api-events"),
    path("spend", spend.ShowSpend.as_view(), name="api-spend"),
    path("settings", settings.Settings.as_view()),
    path("settings/actions/test-provider", providers.TestProvider.as_view()),
    path("auth/tokens", tokens.Tokens.as_view()),
    path("auth/tokens/<int:token_id>", tokens.Token.as_view()),
    path("views", views.SavedViews.as_view()),
    path("views/<int:view_id>", views.SavedViewItem.as_view()),
]
