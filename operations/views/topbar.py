from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET


@require_GET
def show_topbar(request: HttpRequest) -> HttpResponse:
    """The live fragment that every page includes: worker, spend and what waits for a person."""
    return render(request, "_topbar_facts.html")
