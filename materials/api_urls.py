"""Materials' part of ``/v1/``."""

from django.urls import path

from materials import api

urlpatterns = [
    path("artifacts", api.ListArtifacts.as_view()),
    path("artifacts/<uuid:artifact_id>/content", api.ShowArtifactContent.as_view(), name="api-artifact-content"),
]
