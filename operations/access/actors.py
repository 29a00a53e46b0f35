"""Who makes a request: a signed-in session, or a script with a token."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.http import HttpRequest

from operations.access.tokens import find_token

SCHEME: Final = "bearer"


class InvalidToken(Exception):
    """The token of this request is unknown or was revoked."""


class NotSignedIn(Exception):
    """The request has neither a session nor a token."""


@dataclass(frozen=True, slots=True)
class Actor:
    """``token_label`` is "" for a session; ``name`` is what audit events keep."""

    user: User
    token_label: str = ""
    is_token: bool = False

    @property
    def name(self) -> str:
        username = self.user.get_username()
        return f"{username} (token {self.token_label})" if self.is_token else username


def identify(request: HttpRequest, *, now: datetime) -> Actor | None:
    """Read the request's token, else its session; remembered on the request, whose ``user`` becomes the actor's.

    Raises:
        InvalidToken: a Bearer token was sent that does not work; a session beside it is not looked at.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == SCHEME:
        row = find_token(token.strip(), now=now)
        if row is None:
            raise InvalidToken
        request.user = row.user
        actor: Actor | None = Actor(row.user, row.label, is_token=True)
    else:
        user = request.user
        actor = Actor(user) if isinstance(user, User) and user.is_active else None
    setattr(request, _ATTRIBUTE, actor)
    return actor


def find_actor(request: HttpRequest) -> Actor | None:
    """Who the guard let in; ``None`` on the pages that are open to all."""
    return getattr(request, _ATTRIBUTE, None)


def require_actor(request: HttpRequest) -> Actor:
    """Who the guard let in.

    Raises:
        NotSignedIn: on a page that is open to all.
    """
    actor = find_actor(request)
    if actor is None:
        raise NotSignedIn
    return actor


async def get_actor(request: HttpRequest) -> Actor:
    """``require_actor`` for a stream: lets go of the request's database connection, which would idle for hours.

    Raises:
        NotSignedIn: on a page that is open to all.
    """
    actor = require_actor(request)
    await sync_to_async(release_connections)()
    return actor


def release_connections() -> None:
    """Close this thread's connections, unless a transaction is open in one (a test's)."""
    from django.db import connections

    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


_ATTRIBUTE: Final = "_jobctrl_actor"
