"""Exceptions from the site's content security policy, for the few views that need one."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.decorators import csp_update
from django.http.response import HttpResponseBase

View = Callable[..., HttpResponseBase]


def allow_docs_page(view: View) -> View:
    """For the API's browsable page: Swagger UI draws its icons from data addresses."""
    allowed: Any = csp_update({"img-src": ["'self'", "data:"]})
    allow: View = allowed(view)
    return allow


def allow_framing(view: View) -> View:
    """For a document that one of our own pages shows in a frame."""

    @wraps(view)
    def show(*args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(*args, **kwargs)
        setattr(response, "_csp_replace", {"frame-ancestors": ["'self'"]})  # noqa: B010 - as django-csp's decorators do
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        return response

    return show
