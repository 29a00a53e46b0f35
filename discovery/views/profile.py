"""The profile as it stands, and its older versions."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from discovery.listing import ProfileVersion, find_profile_version, list_profile_versions
from discovery.profile_import import compare_profiles
from discovery.services.profiles import count_parts
from discovery.views.profile_words import describe_difference, describe_document

LARGEST_VERSION = 2**31 - 1


@require_GET
def show_profile(request: HttpRequest) -> HttpResponse:
    """The newest version, or with ``?fragment=body`` its live part."""
    found = find_profile_version()
    part = "_" if request.GET.get("fragment") == "body" else ""
    if found is None:
        return render(request, f"discovery/{part}profile_empty.html")
    return render(request, f"discovery/{part}profile.html", build_profile(found))


@require_GET
def show_version(request: HttpRequest, version: int) -> HttpResponse:
    """One version, and what it changed against the one before it."""
    found = find_profile_version(version) if version <= LARGEST_VERSION else None
    if found is None:
        raise Http404
    before = find_profile_version(version - 1)
    context = build_profile(found)
    if before is not None:
        difference = compare_profiles(before.document, found.document)
        context |= {"before": before, "difference": difference, "changes": describe_difference(difference)}
    return render(request, "discovery/profile_version.html", context)


def build_profile(found: ProfileVersion) -> dict[str, Any]:
    versions = list_profile_versions()
    return {
        "profile": found,
        "newest": versions[0][0],
        "versions": versions,
        "parts": count_parts(found.document),
        **describe_document(found.document),
    }
