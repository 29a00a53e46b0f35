"""The operator account. It has no password until one is set on the settings page."""

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.backends.db import SessionStore

OPERATOR = "operator"


def ensure_operator() -> User:
    """The account that sign-in links sign in, made on the first start. Idempotent."""
    model = get_user_model()
    user, is_new = model.objects.get_or_create(
        username=OPERATOR, defaults={"is_staff": True, "is_superuser": True, "password": UNUSABLE_PASSWORD_PREFIX}
    )
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def can_use_password() -> bool:
    """Whether anybody has set a password yet."""
    users = get_user_model().objects.filter(is_active=True)
    return users.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).exists()


def set_password(user: User, *, password: str) -> None:
    """Store a new password; sessions other than the caller's end (it calls ``update_session_auth_hash``).

    Raises:
        django.core.exceptions.ValidationError: its ``messages`` say what is wrong with the password.
    """
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])


def forget_expired_sessions() -> None:
    SessionStore.clear_expired()
