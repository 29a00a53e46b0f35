"""The page that asks before something is destroyed; with scripts a dialog asks the same and this is skipped."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

_OWN_FIELDS = ("csrfmiddlewaretoken", "confirmed")


def ask_first(request: HttpRequest, *, title: str, consequence: str, label: str, back: str) -> HttpResponse | None:
    """The page to answer with while the POST is unconfirmed; ``None`` = the person has said yes, go on.

    The page repeats every posted field. It leads back to where the form stood, or to ``back``.
    """
    if request.POST.get("confirmed") == "yes":
        return None
    referer = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure())
    context = {
        "title": title,
        "consequence": consequence,
        "label": label,
        "back": referer if is_ours else back,
        "fields": list_posted(request),
    }
    return render(request, "confirm.html", context)


def list_posted(request: HttpRequest) -> list[tuple[str, str]]:
    """Every field of the form that was posted."""
    posted = request.POST.lists()
    return [(name, str(value)) for name, values in posted if name not in _OWN_FIELDS for value in values]
