from django.conf import settings
from django.db import models


class SignInLink(models.Model):
    """Runtime. A one-time sign-in address; only its hash is kept, and it works once within minutes."""

    token_hash = models.CharField(max_length=64, primary_key=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "sign_in_links"

    def __str__(self) -> str:
        return f"sign-in link of {self.created_at:%Y-%m-%d %H:%M}"


class ApiToken(models.Model):
    """Canonical. Leave for a script to use the API; the token itself is shown once and never stored."""

    token_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=8)
    label = models.CharField(max_length=80)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    created_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "api_tokens"
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.label} (…{self.hint})"


class SignInThrottle(models.Model):
    """Runtime. Failed password sign-ins of one client address or account, by the hash of its name."""

    key_hash = models.CharField(max_length=64, primary_key=True)
    failures = models.PositiveSmallIntegerField(default=0)
    level = models.PositiveSmallIntegerField(default=0)
    window_started_at = models.DateTimeField()
    blocked_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "sign_in_throttles"

    def __str__(self) -> str:
        return f"{self.failures} failures, {self.level} waits"


class StartReceipt(models.Model):
    """Canonical. What one Idempotency-Key started, so that a repeat answers with the same ids."""

    key_hash = models.CharField(max_length=64, primary_key=True)
    workflow_id = models.CharField(max_length=200)
    run_id = models.CharField(max_length=80)
    asked_hash = models.CharField(max_length=64, default="")  # of what was asked: the key is no other request's
    created_at = models.DateTimeField()

    class Meta:
        db_table = "start_receipts"

    def __str__(self) -> str:
        return self.workflow_id


class SavedView(models.Model):
    """Canonical. A page's filters under a name."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    page = models.CharField(max_length=20)
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=1000)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "saved_views"
        constraints = [models.UniqueConstraint(fields=["user", "page", "name"], name="one_saved_view_per_name")]

    def __str__(self) -> str:
        return self.name
