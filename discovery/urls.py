from django.urls import path

from discovery.views.profile import show_profile, show_version
from discovery.views.profile_edit import edit_profile
from discovery.views.profile_import import confirm_import, import_resume
from discovery.views.sources import add_samples, add_source, show_sources, switch_source

app_name = "discovery"

urlpatterns = [
    path("profile/", show_profile, name="profile"),
    path("profile/versions/<int:version>/", show_version, name="profile-version"),
    path("profile/edit/<slug:part>/", edit_profile, name="edit-profile"),
    path("profile/import/", import_resume, name="import-profile"),
    path("profile/import/confirm/", confirm_import, name="confirm-import"),
    path("discovery/", show_sources, name="sources"),
    path("discovery/add/", add_source, name="add-source"),
    path("discovery/samples/", add_samples, name="add-samples"),
    path("discovery/switch/", switch_source, name="switch-source"),
]
