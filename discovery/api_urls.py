"""Discovery's part of ``/v1/``."""

from django.urls import path

from discovery import api

urlpatterns = [
    path("profile", api.Profile.as_view(), name="api-profile"),
    path("profile/import", api.ImportProfile.as_view()),
    path("discovery/sources", api.Sources.as_view()),
]
