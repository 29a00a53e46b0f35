"""Who may sign in. Passwords and tokens are made on the settings page; hashes are never shown."""

from typing import Any

from django.contrib import admin
from django.contrib.auth import admin as _accounts  # noqa: F401 - registers what is taken out below
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.template.response import TemplateResponse

from operations.admin.acting import ask_once, row_action, say_outcomes, take_selected
from operations.admin.tables import TableAdmin
from operations.models import ApiToken, FrozenStart, SavedView, SignInLink, SignInThrottle, StartReceipt
from operations.services.operating import revoke_api_token

ACCESS = "Access"

# One operator: groups and permissions decide nothing here.
admin.site.unregister([Group, User])


@admin.register(User)
class UserAdmin(TableAdmin):
    group, place = ACCESS, 10
    list_display = ("username", "is_active", "is_staff", "last_login", "date_joined")
    secret = ("password",)


@admin.register(ApiToken)
class ApiTokenAdmin(TableAdmin):
    group, place = ACCESS, 20
    list_display = ("label", "hint", "user", "created_at", "last_used_at", "revoked_at")
    list_select_related = ("user",)
    secret = ("token_hash",)
    actions = ("revoke",)

    @row_action("Revoke the chosen tokens")
    def revoke(self, request: HttpRequest, queryset: Any) -> TemplateResponse | None:
        tokens = take_selected(request, queryset)
        page = ask_once(
            self, request, tokens, title="Revoke these tokens?", label="Revoke",
            consequence="Scripts that use them are refused from now on. This cannot be taken back.",
        )  # fmt: skip
        if page is None:
            say_outcomes(request, tokens, lambda token: _revoke(request, token), done="Revoked")
        return page


def _revoke(request: HttpRequest, token: ApiToken) -> str:
    revoked = revoke_api_token(token.pk, owner=token.user, label=token.label, actor=request.user.get_username())
    return "" if revoked else f"{token}: it was revoked before."


@admin.register(SignInLink)
class SignInLinkAdmin(TableAdmin):
    group, place = ACCESS, 30
    keys = ("token_hash",)
    list_display = ("created_at", "expires_at", "used_at")
    list_display_links = None
    secret = ("token_hash",)


@admin.register(SignInThrottle)
class SignInThrottleAdmin(TableAdmin):
    group, place = ACCESS, 40
    keys = ("key_hash",)
    list_display = ("failures", "level", "window_started_at", "blocked_until")
    list_display_links = None
    secret = ("key_hash",)


@admin.register(StartReceipt)
class StartReceiptAdmin(TableAdmin):
    group, place = ACCESS, 50
    keys = ("key_hash",)
    list_display = ("workflow_id", "run_id", "created_at")
    secret = ("key_hash",)


@admin.register(FrozenStart)
class FrozenStartAdmin(TableAdmin):
    group, place = ACCESS, 55
    keys = ("workflow_id",)
    list_display = ("workflow_id", "workflow_type", "tries", "created_at")
    secret = ("receipt_hash",)


@admin.register(SavedView)
class SavedViewAdmin(TableAdmin):
    group, place = ACCESS, 60
    list_display = ("name", "page", "query", "user", "created_at")
    list_select_related = ("user",)
