"""Django REST framework's view of the actor that the guard let in."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request

from operations.access.actors import Actor, find_actor


class ActorAuthentication(BaseAuthentication):
    """A session, which must prove its CSRF token, or an API token. ``request.auth`` is the ``Actor``."""

    def authenticate(self, request: Request) -> tuple[Any, Actor] | None:
        actor = find_actor(request._request)
        if actor is None:
            return None
        if not actor.is_token:
            SessionAuthentication().enforce_csrf(request)
        return actor.user, actor

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="jobctrl"'


class ActorScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = ActorAuthentication
    name = ["session", "token"]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, str]]:
        from django.conf import settings

        return [
            {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
            {"type": "http", "scheme": "bearer", "bearerFormat": "jc_…"},
        ]
