"""Static files, served in front of Django straight from where they lie: no collecting, no middleware."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.headers import Headers

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from servestatic import ServeStaticASGI

from operations.access.bodies import Application


def serve_static(application: Application) -> Application:
    """Every file is revalidated by its ETag on use: on one's own machine that costs less than a stale script."""
    server: Any = ServeStaticASGI(
        application,
        autorefresh=settings.DEBUG,
        max_age=0,
        allow_all_origins=False,
        add_headers_function=_add_headers,
    )
    # A folder added later wins, and the first finder must.
    for folder in reversed(list(_list_folders())):
        server.add_files(folder, prefix=settings.STATIC_URL)
    serve: Application = server
    return serve


def _list_folders() -> Iterator[Path]:
    for finder in get_finders():
        for storage in getattr(finder, "storages", {}).values():
            folder = Path(storage.location)
            if folder.is_dir():
                yield folder


def _add_headers(headers: Headers, path: str, url: str) -> None:
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Referrer-Policy"] = "same-origin"
