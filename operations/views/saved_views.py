from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from operations.services import saved_views

NAME_LIMIT = 80
QUERY_LIMIT = 1000


@require_POST
def save_view(request: HttpRequest) -> HttpResponse:
    """Keep a page's filters under a name."""
    page, name = request.POST.get("page", ""), request.POST.get("name", "").replace("\x00", "").strip()
    query = QueryDict(request.POST.get("query", "")[:QUERY_LIMIT]).urlencode()
    if page not in saved_views.PAGES or not name or len(name) > NAME_LIMIT:
        messages.error(request, f"A view needs a name of at most {NAME_LIMIT} characters; nothing was saved.")
        return redirect("operations:dashboard" if page not in saved_views.PAGES else f"operations:{page}")
    user: Any = request.user
    saved_views.save_view(user, page=page, name=name, query=query)
    messages.success(request, f"Saved as “{name}”.")
    return redirect(f"{reverse(f'operations:{page}')}?{query}")


@require_POST
def forget_view(request: HttpRequest) -> HttpResponse:
    page, identifier = request.POST.get("page", ""), request.POST.get("id", "")
    if identifier.isdigit() and len(identifier) < 12 and saved_views.delete_view(request.user, int(identifier)):
        messages.success(request, "The view was forgotten; no job was touched.")
    return redirect(f"operations:{page}" if page in saved_views.PAGES else "operations:dashboard")
