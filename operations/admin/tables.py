"""What every table of the admin has in common: nothing is edited, rows lead to the rows that belong to them."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db.models import DateTimeField, Field, JSONField, Model
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from operations.admin.changelist import KeyedChangeList
from operations.admin.ways import Way

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin

Cell = Callable[[Any], Any]

#: The pages that show a row of this name.
PAGES = {"job_id": ("operations:job", UUID), "run_id": ("operations:run", str)}
SHORT_ID = 18
KEPT_URLS = ("changelist", "change")


class TableAdmin(Base):
    """A table that is only read here. What changes a row is an action that calls a service.

    ``keys`` are the columns of an index, descending, that ends in a unique one. ``pointers`` maps columns of this
    table to the way that they are (``owner_run_id`` to ``run_id``). ``home_of`` names the way whose rows live here.
    """

    group: ClassVar[str] = ""
    place: ClassVar[int] = 50
    keys: ClassVar[tuple[str, ...]] = ("id",)
    ways: ClassVar[tuple[Way, ...]] = ()
    pointers: ClassVar[dict[str, str]] = {"job_id": "job_id", "run_id": "run_id"}
    home_of: ClassVar[str] = ""
    secret: ClassVar[tuple[str, ...]] = ()
    plural: ClassVar[str] = ""

    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    change_list_template = "admin/keyed_change_list.html"
    change_form_template = "admin/row.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Never in ``atomic()``: nothing is written, and the writer must not wait for a page."""
        show: Any = super()
        return show._changeform_view(request, object_id, form_url, extra_context)

    def get_urls(self) -> list[Any]:
        """The list and the row; there is nothing to add, to delete or to have a history of edits."""
        prefix = f"{self.opts.app_label}_{self.opts.model_name}_"
        kept = {prefix + name for name in KEPT_URLS}
        return [url for url in super().get_urls() if getattr(url, "name", None) in kept or _is_redirect(url)]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeyedChangeList]:
        return KeyedChangeList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        filters = {getattr(spec, "parameter_name", "") for spec in self.list_filter}
        return lookup in filters

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Only says whether there is a search field; the list itself looks rows up by their ways."""
        return [way.column for way in self.ways]

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        return queryset, False

    @property
    def search_help_text(self) -> str:  # type: ignore[override]
        return f"By {_join([way.label for way in self.ways])}." if self.ways else ""

    def get_plural(self) -> str:
        return self.plural or str(self.opts.verbose_name_plural)

    # --- cells ---------------------------------------------------------------------------------

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [self._list_cell(name) for name in self.list_display]

    def _list_cell(self, name: Any) -> Any:
        if not isinstance(name, str) or hasattr(self, name):
            return name
        field = self._find_field(name)
        if isinstance(field, DateTimeField):
            return _label(lambda row: show_instant(getattr(row, name)), field)
        if name in self.pointers and name != self.list_display[0] and field is not None:
            return _label(lambda row: self._link_home(self.pointers[name], getattr(row, name)), field)
        if name == "workflow_id" and field is not None:
            return _label(lambda row: show_id(getattr(row, name)), field)
        return name

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        columns = [field for field in self.opts.concrete_fields if field.name not in self.secret]
        return ["belongs", *(self._row_cell(field) for field in columns)]

    def _row_cell(self, field: "Field[Any, Any]") -> Any:
        if isinstance(field, JSONField):
            return _label(lambda row: show_json(getattr(row, field.name)), field)
        if isinstance(field, DateTimeField):
            return _label(lambda row: show_moment(getattr(row, field.name)), field)
        return field.name

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return self.get_fields(request, obj)

    def _find_field(self, name: str) -> "Field[Any, Any] | None":
        return next((field for field in self.opts.concrete_fields if field.name == name), None)

    # --- links ---------------------------------------------------------------------------------

    @admin.display(description="belongs to it")
    def belongs(self, row: Model) -> SafeString:
        lines = []
        for column, way in self.pointers.items():
            value = getattr(row, column, None)
            if value:
                links = format_html_join(" · ", '<a href="{}">{}</a>', self._list_links(way, value))
                words = way if column == self.opts.pk.name else column
                lines.append((words.removesuffix("_id").replace("_", " "), links))
        return format_html_join("", '<p class="belongs">{}: {}</p>', lines) or SafeString("nothing")

    def _list_links(self, way: str, value: Any) -> list[tuple[str, str]]:
        links = []
        if page := find_page(way, value):
            links.append((page, "its page"))
        tables = sorted(self.admin_site._registry.values(), key=lambda table: getattr(table, "place", 0))
        for table in tables:
            if isinstance(table, TableAdmin) and any(other.name == way for other in table.ways):
                url = reverse(f"{self.admin_site.name}:{table.opts.app_label}_{table.opts.model_name}_changelist")
                links.append((f"{url}?{urlencode({way: value})}", table.get_plural()))
        return links

    def _link_home(self, way: str, value: Any) -> SafeString | str:
        """The value, leading to the row that it names."""
        if not value:
            return "-"
        for table in self.admin_site._registry.values():
            if isinstance(table, TableAdmin) and table.home_of == way:
                name = f"{self.admin_site.name}:{table.opts.app_label}_{table.opts.model_name}_change"
                url = reverse(name, args=[quote(value)])
                return format_html('<a class="id" href="{}" title="{}">{}</a>', url, value, shorten(value))
        return str(value)

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        if obj is None or not self.home_of:
            return None
        return find_page(self.home_of, obj.pk) or None


def find_page(way: str, value: Any) -> str:
    """The page of the product that shows a job or a run; "" where there is none."""
    name, kind = PAGES.get(way, ("", str))
    if not name or not isinstance(value, kind):
        return ""
    try:
        return reverse(name, args=[value])
    except NoReverseMatch:
        return ""


def show_json(value: Any) -> SafeString:
    """Indented and escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return format_html('<pre class="json">{}</pre>', text)


def shorten(value: Any) -> str:
    """Enough of an id to tell it from its neighbours, those that begin with the time too."""
    text = str(value)
    return text if len(text) <= SHORT_ID else f"{text[:SHORT_ID]}…"


def show_id(value: Any) -> SafeString:
    return format_html('<span class="id" title="{}">{}</span>', value, shorten(value))


def show_instant(value: datetime | None) -> SafeString | str:
    """For a column: in one line, the zone on hover."""
    if value is None:
        return "-"
    return format_html('<span class="instant" title="UTC">{}</span>', show_moment(value).removesuffix(" UTC"))


def show_moment(value: datetime | None) -> str:
    """UTC, with the milliseconds that tell one event from the next."""
    if value is None:
        return "-"
    return value.astimezone(UTC).isoformat(" ", "milliseconds").removesuffix("+00:00") + " UTC"


def _label(show: Cell, field: "Field[Any, Any]") -> Cell:
    show.__name__ = field.name
    show.short_description = str(field.verbose_name)  # type: ignore[attr-defined]
    return show


def _join(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _is_redirect(url: Any) -> bool:
    return getattr(url, "name", "") is None and str(url.pattern) == "<path:object_id>/"
