"""The whole of ``/v1/``: the engine's ``api/urls.py`` and the ``api_urls.py`` of each app that has one."""

from importlib.util import find_spec

from django.urls import include, path

from operations.streaming.views import stream_events

urlpatterns = [
    path("events/stream", stream_events, name="event-stream"),
    path("", include("operations.api.urls")),
    *(path("", include(f"{app}.api_urls")) for app in ("discovery", "materials") if find_spec(f"{app}.api_urls")),
]
