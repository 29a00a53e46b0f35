"""A list that pages by key: it never counts, never skips and never sorts without an index."""

from typing import Any, ClassVar

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.db.models import JSONField, QuerySet, TextField
from django.http import HttpRequest

from operations.admin.ways import Narrowed, Way
from operations.listing.paging import BadQuery, Page, read_page

Rows = QuerySet[Any]


class IndexedFilter(SimpleListFilter):
    """Fixed choices over an index; ``order`` are the columns in which that index gives the chosen rows."""

    order: ClassVar[tuple[str, ...]] = ()


class KeyedChangeList(ChangeList):
    """The page parameter holds the key of the last row shown. The order follows from what narrows the rows."""

    order: tuple[str, ...] = ()
    next_query: str = ""
    first_query: str = ""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.title = self._admin.get_plural().capitalize()

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        given = super().get_filters_params(params)
        return {name: value for name, value in given.items() if name not in self.way_names}

    def get_ordering(self, request: HttpRequest, queryset: Rows) -> list[Any]:
        return []

    def get_ordering_field_columns(self) -> dict[Any, Any]:
        return {}

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Rows:
        rows: Rows = super().get_queryset(request, exclude_parameters)
        self.order = self._admin.keys
        for spec in self.filter_specs:
            if isinstance(spec, IndexedFilter) and spec.value() is not None:
                self.order = spec.order or self.order
        for way in self._admin.ways:
            if (term := request.GET.get(way.name)) is not None:
                narrowed = way.find(term)
                if narrowed is None:
                    raise IncorrectLookupParameters
                rows = self._narrow(rows, narrowed)
        if self.query.strip():
            found = self._search(self.query.strip())
            rows = rows.none() if found is None else self._narrow(rows, found)
        return rows

    def get_results(self, request: HttpRequest) -> None:
        heavy = [
            field.name
            for field in self.opts.concrete_fields
            if isinstance(field, JSONField | TextField) and field.name not in self._admin.list_display
        ]
        cursor = request.GET.get(PAGE_VAR, "")
        try:
            page: Page[Any] = read_page(
                self.queryset.defer(*heavy), order=self.order, cursor=cursor, limit=self.list_per_page
            )
        except BadQuery as error:
            raise IncorrectLookupParameters from error
        self.result_list = page.rows
        self.result_count = len(page.rows)
        self.full_result_count = None
        self.show_full_result_count = False
        self.show_admin_actions = True
        self.can_show_all = self.multi_page = False
        self.next_query = self.get_query_string({PAGE_VAR: page.next_cursor}) if page.next_cursor else ""
        self.first_query = self.get_query_string() if cursor else ""

    @property
    def way_names(self) -> set[str]:
        return {way.name for way in self._admin.ways}

    @property
    def is_narrowed(self) -> bool:
        return bool(self.way_names & self.params.keys())

    @property
    def _admin(self) -> Any:
        return self.model_admin

    def _narrow(self, rows: Rows, narrowed: Narrowed) -> Rows:
        self.order = narrowed.order
        return rows.filter(narrowed.condition)

    def _search(self, term: str) -> Narrowed | None:
        """The first way that leads to a row; each try is one index look-up. Whole values come before beginnings."""
        ways: tuple[Way, ...] = self._admin.ways
        for narrowed in (*(way.find(term) for way in ways), *(way.find_beginning(term) for way in ways)):
            if narrowed is not None and self.root_queryset.filter(narrowed.condition).exists():
                return narrowed
        return None
