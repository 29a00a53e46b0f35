"""System checks of the stream's surroundings."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.utils.module_loading import import_string


def check_middleware(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """``operations.E010``: a middleware that can only be synchronous runs every request in a thread, streams too."""
    return [
        Error(
            f"The middleware {name} cannot run asynchronously.",
            hint="Take it out of MIDDLEWARE, or make it async_capable: each open stream would hold a thread.",
            id="operations.E010",
        )
        for name in settings.MIDDLEWARE
        if not getattr(import_string(name), "async_capable", False)
    ]
