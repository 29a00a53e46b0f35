"""The operator's window: every table, grouped as the seed's persistence map groups them."""

from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse

#: Headings of the index, in order ("Persistence Map" of the seed). A table without one of these stands under "Other".
GROUPS: Final = (
    "Discovery",
    "Enrichment",
    "Scoring",
    "Materials",
    "Apply",
    "Contact & Outreach",
    "Orchestration / read model",
    "Spend",
    "Runtime",
    "Access",
)
OTHER: Final = "Other"


class OperatorSite(AdminSite):
    site_header = "JobCtrl operator"
    site_title = "JobCtrl operator"
    index_title = "Every table"
    enable_nav_sidebar = True
    final_catch_all_view = True

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one sign-in for everything; who is signed in and comes here has no leave to."""
        if request.user.is_authenticated and not self.has_permission(request):
            raise PermissionDenied
        target = request.GET.get("next", "") or reverse(f"{self.name}:index")
        return HttpResponseRedirect(f"{settings.LOGIN_URL}?{urlencode({'next': target})}")

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Passwords and tokens are kept on the settings page."""
        try:
            return HttpResponseRedirect(reverse("operations:settings"))
        except NoReverseMatch:
            return HttpResponseRedirect("/")

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        if app_label is not None:
            return super().get_app_list(request, app_label)
        tables: dict[str, list[Any]] = {}
        for app in self._build_app_dict(request).values():
            for table in app["models"]:
                shown: Any = self._registry[table["model"]]
                group = getattr(shown, "group", OTHER) or OTHER
                table["name"] = shown.get_plural().capitalize() if hasattr(shown, "get_plural") else table["name"]
                tables.setdefault(group, []).append(table)
        return [self._describe_group(group, tables[group]) for group in (*GROUPS, OTHER) if group in tables]

    def _describe_group(self, group: str, tables: list[Any]) -> dict[str, Any]:
        label = "-".join("".join(c if c.isalnum() else " " for c in group.lower()).split())
        return {
            "name": group,
            "app_label": label,
            "app_url": f"{reverse(f'{self.name}:index')}#group-{label}",
            "has_module_perms": True,
            "models": sorted(tables, key=lambda table: getattr(self._registry[table["model"]], "place", 0)),
        }

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        from operations.models import ProjectionWatermark

        marks = ProjectionWatermark.objects.order_by("app")
        return super().index(request, {"watermarks": marks, **(extra_context or {})})
