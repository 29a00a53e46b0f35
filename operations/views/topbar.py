from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET


@require_GET
def show_topbar(request: HttpRequest) -> HttpResponse:
    """The live parts that every page includes: the facts of the top bar, and under it what stands still and why."""
    return render(request, "_topbar_live.html")
