from django.urls import path

from operations.streaming.views import stream_nudges
from operations.views.activity import show_activity, show_event
from operations.views.bulk import act_on_jobs
from operations.views.dashboard import show_dashboard, start_discovery
from operations.views.job import act_on_job, show_job
from operations.views.jobs import show_jobs
from operations.views.palette import search_palette
from operations.views.providers import ask_provider
from operations.views.run import show_run, stop_run
from operations.views.runs import show_runs
from operations.views.saved_views import forget_view, save_view
from operations.views.settings import change_password, end_token, make_token, show_settings
from operations.views.sign_in import sign_in, sign_out
from operations.views.spend import ask_again, show_spend
from operations.views.topbar import show_topbar

app_name = "operations"

urlpatterns = [
    path("", show_dashboard, name="dashboard"),
    path("start/", start_discovery, name="start-discovery"),
    path("jobs/", show_jobs, name="jobs"),
    path("jobs/actions/", act_on_jobs, name="act-on-jobs"),
    path("jobs/<uuid:job_id>/", show_job, name="job"),
    path("jobs/<uuid:job_id>/actions/", act_on_job, name="act-on-job"),
    path("runs/", show_runs, name="runs"),
    path("runs/<str:run_id>/", show_run, name="run"),
    path("runs/<str:run_id>/cancel/", stop_run, name="stop-run"),
    path("activity/", show_activity, name="activity"),
    path("activity/<int:event_id>/", show_event, name="event"),
    path("spend/", show_spend, name="spend"),
    path("spend/ask-again/", ask_again, name="ask-provider-again"),
    path("views/save/", save_view, name="save-view"),
    path("views/forget/", forget_view, name="forget-view"),
    path("settings/", show_settings, name="settings"),
    path("settings/providers/try/", ask_provider, name="ask-provider"),
    path("settings/password/", change_password, name="change-password"),
    path("settings/tokens/", make_token, name="make-token"),
    path("settings/tokens/revoke/", end_token, name="end-token"),
    path("live/", stream_nudges, name="live"),
    path("palette/", search_palette, name="palette"),
    path("topbar/", show_topbar, name="topbar"),
    path("sign-in/", sign_in, name="sign-in"),
    path("sign-out/", sign_out, name="sign-out"),
]
