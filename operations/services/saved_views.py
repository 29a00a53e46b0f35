"""A page's filters under a name."""

from typing import Any

from django.utils import timezone

from operations.database import writer
from operations.models import SavedView

PAGES = ("jobs", "runs", "activity")


def list_views(user: Any, *, page: str = "") -> list[SavedView]:
    rows = SavedView.objects.filter(user=user)
    return list((rows.filter(page=page) if page else rows).order_by("page", "name")[:200])


def save_view(user: Any, *, page: str, name: str, query: str) -> SavedView:
    """A second one of the same name replaces the first."""
    with writer():
        saved, _ = SavedView.objects.update_or_create(
            user=user, page=page, name=name, defaults={"query": query, "created_at": timezone.now()}
        )
    return saved


def delete_view(user: Any, view_id: int) -> bool:
    with writer():
        removed, _ = SavedView.objects.filter(user=user, id=view_id).delete()
    return bool(removed)
