"""Importing a JSON Resume: what it would change is shown before anything is stored."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from discovery.contracts import ProfileDocument
from discovery.listing import find_profile_version
from discovery.profile_import import ProfileRefused, compare_profiles, read_profile, write_json_resume
from discovery.profile_import.decode import MAX_BYTES
from discovery.services.profiles import ProfileConflict, count_parts, import_profile
from discovery.views.profile_words import describe_difference

NO_WORK = (
    "It starts no work: what was admitted keeps the version it has. Run Score again on a job to judge it by this one."
)


@require_http_methods(["GET", "HEAD", "POST"])
def import_resume(request: HttpRequest) -> HttpResponse:
    """The form; its POST shows what would change, or what is wrong with the file, and stores nothing."""
    if request.method != "POST":
        return render(request, "discovery/profile_import.html", {"typed": ""})
    data, typed = read_sent(request)
    try:
        document = read_profile(data)
    except ProfileRefused as refused:
        status = 413 if _measure(data) > MAX_BYTES else 400
        context = {"typed": typed, "problems": refused.problems}
        return render(request, "discovery/profile_import.html", context, status=status)
    return show_preview(request, document)


@require_POST
def confirm_import(request: HttpRequest) -> HttpResponse:
    """Store what the preview showed. A version that came in between is told and shown, not overwritten."""
    resume, base = request.POST.get("resume", ""), read_version(request.POST.get("base", ""))
    try:
        imported = import_profile(resume, base_version=base)
    except ProfileRefused as refused:
        context = {"typed": resume, "problems": refused.problems}
        return render(request, "discovery/profile_import.html", context, status=400)
    except ProfileConflict as conflict:
        return show_preview(request, read_profile(resume), conflict=conflict)
    if imported.created:
        messages.success(request, f"Profile version {imported.version} was imported. {NO_WORK}")
    else:
        messages.info(request, f"Nothing was changed: version {imported.version} says the same already.")
    return redirect("discovery:profile")


def show_preview(
    request: HttpRequest, document: ProfileDocument, *, conflict: ProfileConflict | None = None
) -> HttpResponse:
    newest = find_profile_version()
    difference = compare_profiles(newest.document if newest else None, document)
    context: dict[str, Any] = {
        "conflict": conflict,
        "document": document,
        "parts": count_parts(document),
        "newest": newest,
        "base": newest.version if newest else 0,
        "difference": difference,
        "changes": describe_difference(difference),
        "resume": json.dumps(write_json_resume(document), ensure_ascii=False),
    }
    return render(request, "discovery/profile_preview.html", context, status=409 if conflict else 200)


def read_sent(request: HttpRequest) -> tuple[bytes | str, str]:
    """What was sent, and the text to show again. A file counts before what was pasted; it is shown if it is text."""
    typed = request.POST.get("text", "")
    file = request.FILES.get("file")
    if file is None:
        return typed, typed
    data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return data, typed
    try:
        return data, data.decode(json.detect_encoding(data))
    except UnicodeDecodeError:
        return data, typed


def read_version(text: str) -> int:
    """A version number of a form; -1, which fits none, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else -1


def _measure(data: bytes | str) -> int:
    return len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "surrogatepass"))
