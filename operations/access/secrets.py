"""Secrets that are shown once: made here, stored only as their SHA-256."""

import hashlib
import re
import secrets

SECRET_PATTERN = re.compile(r"[A-Za-z0-9_-]{43}")  # 32 random bytes in URL-safe base64


def make_secret() -> str:
    return secrets.token_urlsafe(32)


def is_well_formed(secret: str) -> bool:
    return SECRET_PATTERN.fullmatch(secret) is not None


def hash_secret(secret: str) -> str:
    """Unsalted: 256 random bits cannot be guessed, and the hash is what the row is looked up by."""
    return hashlib.sha256(secret.encode()).hexdigest()
