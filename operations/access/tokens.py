"""API tokens: leave for a script to act as a user."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.db.models import Q

from operations.access.secrets import hash_secret, is_well_formed, make_secret
from operations.models import ApiToken

PREFIX = "jc_"
HINT_LENGTH = 4
USE_NOTED_EVERY = timedelta(minutes=1)
BRIEF_MS = 50


def create_token(user: User, *, label: str, now: datetime) -> tuple[ApiToken, str]:
    """The row and the token itself, which is shown this once; ``label`` is cut to what the table holds."""
    token = PREFIX + make_secret()
    row = ApiToken.objects.create(
        token_hash=hash_secret(token),
        hint=token[-HINT_LENGTH:],
        label=label.strip()[:80] or "unnamed",
        user_id=user.pk,
        created_at=now,
    )
    return row, token


def revoke_token(token_id: int, *, user: User, now: datetime) -> bool:
    """End a token of this user at once; ``False`` where there is no such one or it was revoked before."""
    rows = ApiToken.objects.filter(pk=token_id, user_id=user.pk, revoked_at__isnull=True)
    if rows.update(revoked_at=now) != 1:
        return False
    from operations.streaming.channel_manager import close_streams

    close_streams(user.pk)
    return True


def list_tokens(user: User) -> Sequence[ApiToken]:
    """A user's tokens that still work, newest first."""
    return list(ApiToken.objects.filter(user_id=user.pk, revoked_at__isnull=True).order_by("-created_at", "-pk"))


def find_token(token: str, *, now: datetime) -> ApiToken | None:
    """The working token, with its user; notes its use at most once a minute."""
    if not token.startswith(PREFIX) or not is_well_formed(token.removeprefix(PREFIX)):
        return None
    rows = ApiToken.objects.filter(token_hash=hash_secret(token), revoked_at__isnull=True, user__is_active=True)
    row = rows.select_related("user").first()
    if row is not None and (row.last_used_at is None or now - row.last_used_at >= USE_NOTED_EVERY):
        _note_use(row.pk, now=now)
    return row


def _note_use(token_id: int, *, now: datetime) -> None:
    """Best effort: a request that only reads neither waits for a writer nor fails because of one."""
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
    with suppress(OperationalError), wait_briefly():
        ApiToken.objects.filter(stale, pk=token_id).update(last_used_at=now)


@contextmanager
def wait_briefly() -> Iterator[None]:
    """SQLite waits for another connection's write; PostgreSQL's readers meet none here."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (patience,) = cursor.fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {BRIEF_MS}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {int(patience)}")
