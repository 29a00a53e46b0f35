from django.urls import path

from operations.streaming.views import stream_nudges
from operations.views.palette import search_palette
from operations.views.sign_in import sign_in, sign_out
from operations.views.topbar import show_topbar

app_name = "operations"

urlpatterns = [
    path("live/", stream_nudges, name="live"),
    path("palette/", search_palette, name="palette"),
    path("topbar/", show_topbar, name="topbar"),
    path("sign-in/", sign_in, name="sign-in"),
    path("sign-out/", sign_out, name="sign-out"),
]
