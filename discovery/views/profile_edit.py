"""Editing one part of the profile. Saving makes a new version; the later of two tabs is told."""

import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from discovery.contracts import ProfileDocument
from discovery.listing import find_profile_version
from discovery.profile_import import ProfileRefused, compare_profiles, read_profile, write_json_resume
from discovery.services.profiles import ProfileConflict, save_profile
from discovery.views.profile_import import NO_WORK, read_version
from discovery.views.profile_words import describe_difference
from discovery.views.resume_fields import PARTS, PartSpec
from discovery.views.resume_form import Resume, change_entries, fill_form, merge_part, read_posted

FIRST = "start"


@require_http_methods(["GET", "HEAD", "POST"])
def edit_profile(request: HttpRequest, part: str) -> HttpResponse:
    spec = PARTS.get(part)
    if spec is None:
        raise Http404
    newest = find_profile_version()
    if newest is None and part != FIRST:
        return redirect("discovery:profile")
    if newest is not None and part == FIRST and request.method != "POST":
        return redirect("discovery:edit-profile", "basics")
    stored: Resume = write_json_resume(newest.document) if newest else {"work": [{}]}
    if request.method != "POST":
        return show_form(request, spec, stored, base=newest.version if newest else 0)
    base = read_version(request.POST.get("base", ""))
    posted = read_posted(spec, request.POST)
    action = request.POST.get("action", "save")
    if action != "save":
        change_entries(spec, posted, action=action)
        return show_form(request, spec, merge_part(spec, stored, posted), base=base, is_typed=True)
    return save_part(request, spec, merge_part(spec, stored, posted), base=base)


def save_part(request: HttpRequest, spec: PartSpec, resume: Resume, *, base: int) -> HttpResponse:
    """Store the whole profile with this part as typed; refused, its form comes back with everything in it."""
    try:
        document = read_profile(json.dumps(resume, ensure_ascii=False))
    except ProfileRefused as refused:
        return show_form(request, spec, resume, base=base, is_typed=True, refused=refused)
    try:
        saved = save_profile(document, base_version=base)
    except ProfileConflict as conflict:
        return show_conflict(request, spec, resume, document, conflict=conflict)
    if saved.created:
        messages.success(request, f"Profile version {saved.version} was saved. {NO_WORK}")
    else:
        messages.info(request, "Nothing was changed.")
    return redirect(f"{reverse('discovery:profile')}#{spec.name}")


def show_form(
    request: HttpRequest,
    spec: PartSpec,
    resume: Resume,
    *,
    base: int,
    is_typed: bool = False,
    refused: ProfileRefused | None = None,
    status: int | None = None,
    extra: dict[str, Any] | None = None,
) -> HttpResponse:
    """``is_typed``: the form holds what is not saved yet."""
    form = fill_form(spec, resume, problems=refused.problems if refused else ())
    context = {
        "form": form,
        "base": base,
        "is_typed": is_typed,
        "refused": refused,
        **(extra or {}),
    }
    return render(request, "discovery/profile_edit.html", context, status=status or (400 if refused else 200))


def show_conflict(
    request: HttpRequest, spec: PartSpec, resume: Resume, document: ProfileDocument, *, conflict: ProfileConflict
) -> HttpResponse:
    """Both sides: what was saved meanwhile, and what saving this form would now change in it."""
    newest = find_profile_version()
    if newest is None:
        raise Http404
    started = find_profile_version(conflict.base) if conflict.base > 0 else None
    theirs = compare_profiles(started.document if started else None, newest.document)
    mine = compare_profiles(newest.document, document)
    extra = {
        "conflict": conflict,
        "theirs": describe_difference(theirs),
        "theirs_difference": theirs,
        "mine": describe_difference(mine),
        "mine_difference": mine,
    }
    return show_form(request, spec, resume, base=newest.version, is_typed=True, status=409, extra=extra)
