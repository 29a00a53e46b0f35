"""Every app's pages (its ``urls.py``), the API under ``/v1/`` and the admin."""

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

APPS = ("operations", "discovery", "scoring", "materials", "apply", "outreach")

admin.autodiscover()

urlpatterns = [
    path("admin/", admin.site.urls),
    path("v1/", include("jobctrl.api_urls")),
    *(path("", include(f"{app}.urls")) for app in APPS if find_spec(f"{app}.urls")),
]

handler400 = "operations.access.error_pages.answer_bad_request"
handler403 = "operations.access.error_pages.answer_forbidden"
handler404 = "operations.access.error_pages.answer_missing"
handler500 = "operations.access.error_pages.answer_broken"
