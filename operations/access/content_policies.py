"""Exceptions from the site's content security policy, for the few views that need one."""

from collections.abc import Callable
from typing import Any

from csp.decorators import csp_update
from django.http.response import HttpResponseBase

View = Callable[..., HttpResponseBase]


def allow_docs_page(view: View) -> View:
    """For the API's browsable page: Swagger UI draws its icons from data addresses."""
    allowed: Any = csp_update({"img-src": ["'self'", "data:"]})
    allow: View = allowed(view)
    return allow
