"""One-time sign-in links, as a notebook server prints them."""

from datetime import datetime, timedelta
from urllib.parse import urlencode

from operations.access.secrets import hash_secret, is_well_formed, make_secret
from operations.models import SignInLink

LIFETIME = timedelta(minutes=10)
KEPT = timedelta(days=1)


def create_link(base_url: str, *, now: datetime, target: str = "/") -> str:
    """An address that signs the operator in once within ten minutes and then shows the page ``target``.

    Links older than a day are removed.
    """
    token = make_secret()
    SignInLink.objects.filter(expires_at__lt=now - KEPT).delete()
    SignInLink.objects.create(token_hash=hash_secret(token), created_at=now, expires_at=now + LIFETIME)
    query = {"token": token} if target == "/" else {"token": token, "next": target}
    return f"{base_url}/sign-in/?{urlencode(query)}"


def consume_link(token: str, *, now: datetime) -> bool:
    """Use a link up; of several callers at once one gets ``True``."""
    if not is_well_formed(token):
        return False
    unused = SignInLink.objects.filter(token_hash=hash_secret(token), used_at__isnull=True, expires_at__gt=now)
    return unused.update(used_at=now) == 1
